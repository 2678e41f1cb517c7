import type { Duplex } from 'node:stream';

/** What egress needs of the host's network. The only way from a guest's wish to a packet. */
export interface HostNetwork {
  /**
   * All addresses of a host name, in the order in which to try them. Rejects with `EGRESS_NAME_UNRESOLVED`, and with
   * `OPERATION_ABORTED` as soon as `signal` aborts.
   */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;

  /**
   * A connection to an address as it stands; nothing is looked up. The stream can be half closed and its errors are no
   * uncaught exceptions. Rejects with `EGRESS_HOST_UNREACHABLE`, and with `OPERATION_ABORTED` as soon as `signal`
   * aborts; then nothing is left open. The signal has no effect on a stream that was handed out.
   */
  dial(address: string, port: number, signal: AbortSignal): Promise<Duplex>;
}

/** Injection token for the one network of a service. */
export const HOST_NETWORK = Symbol('HOST_NETWORK');
