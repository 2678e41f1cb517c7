/** How a process takes part in messaging. */
export interface MessagingOptions {
  /** Name of the connection, and the queue group that shares the requests between instances of one service. */
  readonly serviceName: string;
  /** Servers, comma separated: `nats://host:4222`. */
  readonly natsUrl: string;
  readonly natsUser?: string;
  readonly natsPassword?: string;
  /** The host whose `perNode` calls this process answers. */
  readonly nodeId: string;
  /** How long a stopping server lets requests finish before it answers them with `RPC_SERVER_STOPPING`. */
  readonly drainMs?: number;
}

/** Injection token of the `MessagingOptions`. */
export const MESSAGING_OPTIONS = Symbol('MESSAGING_OPTIONS');
