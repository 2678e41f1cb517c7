import { createServer, type Server, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { hasCode } from '@inquest/kernel';
import { linkError } from '../errors';
import { type GuestLink, type GuestListener, type GuestStreamHandler } from '../guest-link';
import { acceptPort, assertPort, readPortRequest } from '../port-handshake';
import { connectUnixSocket } from '../unix-socket';

/** A hypervisor's hybrid vsock device with its guest behind it, on a real Unix socket. */
export class FakeHybridVsockGuest implements GuestLink {
  readonly closed: Promise<void>;
  private resolveClosed: () => void = () => undefined;
  private readonly handlers = new Map<number, GuestStreamHandler>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private readonly socketPath: string) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    this.server = createServer({ allowHalfOpen: true }, (socket) => void this.accept(socket));
  }

  /** Resolves once the socket is bound. */
  static async start(socketPath: string): Promise<FakeHybridVsockGuest> {
    const guest = new FakeHybridVsockGuest(socketPath);
    await new Promise<void>((resolve, reject) => guest.server.once('error', reject).listen(socketPath, resolve));
    return guest;
  }

  async connect(port: number, signal: AbortSignal): Promise<Duplex> {
    assertPort(port);
    const socket = await connectUnixSocket(`${this.socketPath}_${port}`, signal).catch((e: unknown) => {
      throw hasCode(e, 'LINK_UNREACHABLE')
        ? linkError('LINK_PORT_REFUSED', `the host does not listen on ${port}`, {}, e)
        : e;
    });
    this.track(socket);
    return socket;
  }

  listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    this.handlers.set(port, handler);
    return Promise.resolve({ port, close: () => Promise.resolve(void this.handlers.delete(port)) });
  }

  close(): Promise<void> {
    this.sever();
    this.resolveClosed();
    return Promise.resolve();
  }

  /** Drops every connection and the socket, as the end of the hypervisor process does. */
  sever(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async accept(socket: Socket): Promise<void> {
    this.track(socket);
    const port = await readPortRequest(socket, AbortSignal.timeout(10_000)).catch(() => null);
    const handler = this.handlers.get(port ?? 0);
    if (port === null || handler === undefined) return void socket.destroy();
    acceptPort(socket, port);
    handler(socket);
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket)).on('error', () => undefined);
  }
}
