import { Duplex } from 'node:stream';

type WriteCallback = (error?: Error | null) => void;

/** How the bytes of a write reach the other end: cut anywhere, as a real transport may. */
export type Fragment = (bytes: Buffer) => readonly Buffer[];

/** Both ends of a connected, half-closable byte stream in memory, with back-pressure. Destroying one end destroys the other. */
export function createMemoryPipe(fragment: Fragment = (bytes) => [bytes]): readonly [Duplex, Duplex] {
  const [a, b] = [new PipeEnd(fragment), new PipeEnd(fragment)];
  a.peer = b;
  b.peer = a;
  return [a, b];
}

class PipeEnd extends Duplex {
  peer: PipeEnd | null = null;
  private blockedWrite: WriteCallback | null = null;

  constructor(private readonly fragment: Fragment) {
    super({ allowHalfOpen: true });
  }

  override _read(): void {
    const { peer } = this;
    const done = peer?.blockedWrite;
    if (!peer || !done) return;
    peer.blockedWrite = null;
    done();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: WriteCallback): void {
    // Later, as with a socket: a reader never runs inside the writer's call.
    setImmediate(() => this.deliver(chunk, done));
  }

  override _final(done: WriteCallback): void {
    setImmediate(() => {
      this.peer?.push(null);
      done();
    });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { peer } = this;
    this.peer = null;
    setImmediate(() => peer?.destroy());
    done(error);
  }

  private deliver(chunk: Buffer, done: WriteCallback): void {
    const { peer } = this;
    if (!peer || peer.destroyed) return done();
    let hasRoom = true;
    for (const piece of this.fragment(chunk)) hasRoom = peer.push(piece);
    if (hasRoom) done();
    else this.blockedWrite = done;
  }
}
