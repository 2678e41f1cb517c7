import { type Duplex } from 'node:stream';

/** Takes a stream that the guest opened. Owns it from then on, and ends or destroys it. Must not throw. */
export type GuestStreamHandler = (stream: Duplex) => void;

/** Makes the first bytes of a stream, when the guest can take them. */
export type FirstBytes = () => Uint8Array;

/** One port of the host that the guest may connect to. */
export interface GuestListener {
  readonly port: number;
  /**
   * Refuses further streams. Streams that were handed over stay open. Idempotent, never rejects. When it resolves, the
   * port is free again and no socket file is left behind.
   */
  close(): Promise<void>;
}

/**
 * Byte streams between the host and one guest, addressed by port.
 *
 * Streams are ordered, reliable and have back-pressure in both directions: one that nobody reads holds a bounded number
 * of bytes and stalls no other. What was sent before the end of a stream arrives before the end. Over the serial mux each
 * direction ends by itself (`allowHalfOpen`); over a hybrid vsock the end of one may be the end of both, so a protocol
 * for either link says in its own words when it has done. Destroying a stream tells the peer; an error on a
 * stream that nobody listens to is not an uncaught exception. Everything that comes out of one is the word of a guest.
 */
export interface GuestLink {
  /**
   * Opens a stream to a guest port. Resolves once the guest accepted it. Rejects with `LINK_PORT_REFUSED` (nobody listens
   * there), `LINK_HANDSHAKE_INVALID`, `LINK_CLOSED` (the link is gone), `LINK_UNREACHABLE` (no hypervisor),
   * `LINK_PORT_INVALID`, or `OPERATION_ABORTED` as soon as `signal` aborts; then nothing is left open. The signal has no
   * effect on a stream that was handed out.
   *
   * What `first` makes is the first that the stream carries. A link that can sends it along with the request for the port,
   * so that its answer takes one round trip instead of two; a guest that refuses the port never looks at it. After any other
   * rejection it may have been taken. Rejects with what `first` throws.
   */
  connect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex>;

  /**
   * Accepts the streams that the guest opens to this port of the host. Bind before the machine starts: a guest that is
   * refused once may never retry. Rejects with `LINK_PORT_IN_USE`, `LINK_PORT_INVALID` or `LINK_CLOSED`.
   */
  listen(port: number, handler: GuestStreamHandler): Promise<GuestListener>;

  /** Ends every stream (they fail with `LINK_CLOSED`) and every listener. Idempotent, never rejects. */
  close(): Promise<void>;

  /**
   * Resolves once the link can give no more streams: it was closed, or its peer went away or broke the protocol. Never
   * rejects. A link without a session of its own (hybrid vsock) learns of a dead guest only through its streams.
   */
  readonly closed: Promise<void>;
}
