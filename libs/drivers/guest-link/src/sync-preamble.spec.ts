import { once } from 'node:events';
import { type Duplex } from 'node:stream';
import { establishSerialMux } from './serial-mux-link';
import { acceptSync, synchronize } from './sync-preamble';
import { createMemoryPipe } from './testing/memory-pipe';
import { serveSerialMux } from './testing/serial-mux-guest';
import { echo, readAll } from './testing/stream-bytes';

const signal = (): AbortSignal => AbortSignal.timeout(30_000);

/** Collects SYNC nonces that the host sends, in order. */
class NonceReader {
  readonly nonces: string[] = [];
  private text = '';

  constructor(private readonly port: Duplex) {
    port.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
      for (const match of this.text.matchAll(/\nSYNC ([0-9a-f]{32})\n/g)) {
        if (!this.nonces.includes(match[1] as string)) this.nonces.push(match[1] as string);
      }
    });
  }

  /** Resolves once `count` nonces have come. */
  async first(count: number): Promise<readonly string[]> {
    while (this.nonces.length < count) await once(this.port, 'data');
    return this.nonces;
  }
}

describe('serial mux preamble', () => {
  afterEach(() => void jest.useRealTimers());

  it('starts a session over a port with bytes of an older session in both directions', async () => {
    const [host, guest] = createMemoryPipe();
    guest.write(`old answer\nSYNC ${'0'.repeat(32)}\nSYN`);
    host.write('old request\nSYNC zz\n\0\0\0');
    const serving = serveSerialMux(guest, signal());
    const link = await establishSerialMux(host, signal());
    const guestLink = await serving;
    await guestLink.listen(9001, echo);
    const stream = await link.connect(9001, signal());
    stream.end('alive');
    expect((await readAll(stream)).toString()).toBe('alive');
    await link.close();
  });

  it('asks with a new nonce until the latest one is echoed', async () => {
    const [host, guest] = createMemoryPipe();
    const reader = new NonceReader(guest);
    let isDone = false;
    const done = synchronize(host, signal()).then(() => (isDone = true));
    const [first, second] = await reader.first(2);
    expect(first).not.toBe(second);
    guest.write(`SYNC ${first}\n`);
    const [, , third] = await reader.first(3);
    expect(isDone).toBe(false);
    guest.write(`noise SYNC ${third}\nfirst byte of the session`);
    await done;
    expect((host.read() as Buffer).toString()).toBe('first byte of the session');
  });

  it('understands an echo that arrives byte by byte', async () => {
    const [host, guest] = createMemoryPipe((bytes) => Array.from(bytes, (byte) => Buffer.of(byte)));
    await Promise.all([acceptSync(guest, signal()), synchronize(host, signal())]);
    expect(host.destroyed).toBe(false);
  });

  it('stops when it is cancelled, and leaves the port closed', async () => {
    const [host] = createMemoryPipe();
    const controller = new AbortController();
    const waiting = synchronize(host, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(host.destroyed).toBe(true);
  });

  it('stops when the hypervisor goes away', async () => {
    const [host, guest] = createMemoryPipe();
    const waiting = synchronize(host, signal());
    guest.destroy();
    await expect(waiting).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('does not pile up requests in a port that takes no bytes', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const [host, guest] = createMemoryPipe();
    host.write(Buffer.alloc(64 * 1024));
    const controller = new AbortController();
    const waiting = synchronize(host, controller.signal);
    const before = host.writableLength;
    jest.advanceTimersByTime(60_000);
    expect(host.writableLength).toBe(before);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    guest.destroy();
  });
});
