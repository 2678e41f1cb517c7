import { type Duplex } from 'node:stream';
import { linkError } from './errors';
import { type FirstBytes, type GuestLink, type GuestListener, type GuestStreamHandler } from './guest-link';
import { acceptPort, assertPort, awaitPort, portRequest, readPortRequest, refusePort } from './port-handshake';
import { YamuxSession, type YamuxRole } from './yamux/yamux-session';

/** How long a peer that opened a stream may take to name its port. */
const PORT_REQUEST_DEADLINE_MS = 10_000;

/**
 * A guest link over one yamux session. The host is the client; the server role makes the same link for the guest's side
 * of a test.
 */
export class MuxLink implements GuestLink {
  readonly closed: Promise<void>;
  private readonly session: YamuxSession;
  private readonly handlers = new Map<number, GuestStreamHandler>();
  private isClosed = false;

  /** Owns `transport` from now on; the preamble, if any, must be over. */
  constructor(transport: Duplex, role: YamuxRole) {
    this.session = new YamuxSession(transport, role, (stream) => void this.accept(stream));
    this.closed = this.session.closed.then(() => {
      this.isClosed = true;
      this.handlers.clear();
    });
  }

  async connect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex> {
    assertPort(port);
    const stream = await this.session.open(signal, () => [
      portRequest(port),
      ...(first === undefined ? [] : [first()]),
    ]);
    await awaitPort(stream, port, signal);
    return stream;
  }

  listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    return Promise.resolve().then(() => {
      assertPort(port);
      if (this.isClosed) throw linkError('LINK_CLOSED', `cannot listen on port ${port}: the link has ended`, { port });
      if (this.handlers.has(port)) throw linkError('LINK_PORT_IN_USE', `port ${port} has a listener`, { port });
      this.handlers.set(port, handler);
      return {
        port,
        close: () => {
          if (this.handlers.get(port) === handler) this.handlers.delete(port);
          return Promise.resolve();
        },
      };
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.handlers.clear();
    await this.session.close();
    await this.closed;
  }

  private async accept(stream: Duplex): Promise<void> {
    const deadline = AbortSignal.timeout(PORT_REQUEST_DEADLINE_MS);
    // A request that cannot be read has reset its stream, which is all that its peer has to know.
    const port = await readPortRequest(stream, deadline).catch(() => null);
    if (port === null) return;
    const handler = this.handlers.get(port);
    if (handler === undefined) return refusePort(stream, `nobody listens on port ${port}`);
    acceptPort(stream, port);
    handler(stream);
  }
}
