import { lstat, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { hasCode } from '@inquest/kernel';
import { linkError } from './errors';
import { type FirstBytes, type GuestLink, type GuestListener, type GuestStreamHandler } from './guest-link';
import { assertPort, awaitPort, portRequest } from './port-handshake';
import { connectUnixSocket } from './unix-socket';

/**
 * Guest link over the Unix socket of a hybrid vsock device (Firecracker's protocol, also spoken by Cloud Hypervisor and
 * vhost-device-vsock). The hypervisor connects guest-opened streams to `<socketPath>_<port>`. It does not unlink these
 * sockets: a stale one is removed before bind, and ours on every way out. `connect` finds the hypervisor only when called,
 * so the link may be made, and listen, before the machine starts.
 *
 * Its streams have no halves: when either side ends, the other gets what was sent before, and can send no more.
 */
export class HybridVsockLink implements GuestLink {
  readonly closed: Promise<void>;
  private resolveClosed: () => void = () => undefined;
  private isClosed = false;
  private readonly listeners = new Map<number, HybridVsockListener>();
  private readonly streams = new Set<Socket>();

  constructor(private readonly socketPath: string) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
  }

  async connect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex> {
    assertPort(port);
    this.assertOpen();
    const socket = await connectUnixSocket(this.socketPath, signal);
    this.track(socket);
    try {
      socket.write(portRequest(port));
      await awaitPort(socket, port, signal);
    } catch (e) {
      this.assertOpen();
      // Firecracker says no by closing the connection.
      if (hasCode(e, 'LINK_CLOSED'))
        throw linkError('LINK_PORT_REFUSED', `nobody answers on guest port ${port}`, { port }, e);
      throw e;
    }
    // Not before: the hypervisor reads the request, and need not leave what follows it to the guest.
    if (first !== undefined) writeFirst(socket, first);
    return socket;
  }

  async listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    assertPort(port);
    this.assertOpen();
    if (this.listeners.has(port)) throw linkError('LINK_PORT_IN_USE', `port ${port} has a listener`, { port });
    const listener = new HybridVsockListener(
      port,
      `${this.socketPath}_${port}`,
      (socket) => {
        this.track(socket);
        handler(socket);
      },
      () => this.listeners.delete(port),
    );
    this.listeners.set(port, listener);
    await listener.bind();
    if (this.isClosed) await listener.close();
    this.assertOpen();
    return listener;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    // Listeners first: a guest whose streams end may come back at once, and must find nobody.
    const closing = [...this.listeners.values()].map((listener) => listener.close());
    for (const socket of this.streams) socket.destroy(linkError('LINK_CLOSED', 'the link was closed'));
    await Promise.all(closing);
    this.resolveClosed();
  }

  private assertOpen(): void {
    if (this.isClosed) throw linkError('LINK_CLOSED', `the link at ${this.socketPath} was closed`);
  }

  private track(socket: Socket): void {
    // A guest may end a stream while nobody listens; that must not end the process.
    socket.on('error', () => undefined);
    if (this.isClosed) {
      socket.destroy();
      return;
    }
    this.streams.add(socket);
    socket.once('close', () => this.streams.delete(socket));
  }
}

function writeFirst(socket: Socket, first: FirstBytes): void {
  try {
    socket.write(first());
  } catch (e) {
    socket.destroy();
    throw e;
  }
}

/** Streams that a guest may have open to one port at once; further ones are closed at once. */
const MAX_INBOUND_STREAMS = 256;

class HybridVsockListener implements GuestListener {
  private readonly server: Server;
  private closing: Promise<void> | null = null;

  constructor(
    readonly port: number,
    private readonly path: string,
    handler: (socket: Socket) => void,
    private readonly forget: () => void,
  ) {
    this.server = createServer({ allowHalfOpen: true }, handler);
    this.server.maxConnections = MAX_INBOUND_STREAMS;
    // A failed accept (no file descriptors left) costs that stream only.
    this.server.on('error', () => undefined);
  }

  /** Rejects with `LINK_UNREACHABLE` when the path cannot be bound; then nothing is left behind. */
  async bind(): Promise<void> {
    try {
      await removeSocket(this.path);
      await new Promise<void>((resolve, reject) => {
        this.server.once('error', reject);
        // The hypervisor may run as another user. Who gets to the socket at all is for its directory to say.
        this.server.listen({ path: this.path, writableAll: true }, () => {
          this.server.off('error', reject);
          resolve();
        });
      });
    } catch (e) {
      this.forget();
      throw linkError('LINK_UNREACHABLE', `cannot listen on ${this.path}`, { socketPath: this.path }, e);
    }
  }

  close(): Promise<void> {
    this.closing ??= this.unbind();
    return this.closing;
  }

  private async unbind(): Promise<void> {
    this.forget();
    // Not awaited: it calls back only when the last accepted stream has ended, and those belong to others.
    this.server.close();
    await removeSocket(this.path).catch(() => undefined);
  }
}

/** Removes a socket and nothing else: a regular file in its place is somebody's data. */
async function removeSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSocket()) await unlink(path);
}
