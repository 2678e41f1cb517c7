import { once } from 'node:events';
import { type Duplex } from 'node:stream';
import { isDomainError } from '@inquest/kernel';
import fc from 'fast-check';
import { createMemoryPipe, type Fragment } from '../testing/memory-pipe';
import { echo, gone, readAll, writeAll } from '../testing/stream-bytes';
import {
  encodeHeader,
  FLAG,
  FRAME_TYPE,
  GO_AWAY,
  HEADER_BYTES,
  INITIAL_WINDOW_BYTES,
  decodeHeader,
  type YamuxHeader,
} from './header';
import { YamuxSession } from './yamux-session';
import { type YamuxStream } from './yamux-stream';

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const { data, windowUpdate, ping, goAway } = FRAME_TYPE;

/** A client session whose peer is written by hand. */
class RawPeer {
  readonly accepted: YamuxStream[] = [];
  readonly session: YamuxSession;
  private readonly pipe: Duplex;
  private received = Buffer.alloc(0);
  private lastPing = 0;

  constructor() {
    const [ours, theirs] = createMemoryPipe();
    this.session = new YamuxSession(ours, 'client', (stream) => this.accepted.push(stream));
    this.pipe = theirs;
    theirs.on('data', (chunk: Buffer) => (this.received = Buffer.concat([this.received, chunk])));
  }

  send(...pieces: readonly Uint8Array[]): void {
    this.pipe.write(Buffer.concat(pieces));
  }

  /** Resolves once everything sent before was parsed: a ping is answered in order. Returns the headers of the session. */
  async sync(): Promise<YamuxHeader[]> {
    const number = ++this.lastPing;
    this.send(encodeHeader(ping, FLAG.syn, 0, number));
    await this.firstHeader(({ type, length }) => type === ping && length === number);
    return this.headers().filter(({ type }) => type !== ping);
  }

  /** The first header that the session has sent, or will send, of the kind that is looked for. */
  async firstHeader(isWanted: (header: YamuxHeader) => boolean): Promise<YamuxHeader> {
    for (;;) {
      const found = this.headers().find(isWanted);
      if (found) return found;
      await once(this.pipe, 'data');
    }
  }

  /** What the session has sent, which must be headers only. */
  headers(): YamuxHeader[] {
    const count = Math.floor(this.received.length / HEADER_BYTES);
    return Array.from({ length: count }, (_, i) =>
      decodeHeader(this.received.subarray(i * HEADER_BYTES, (i + 1) * HEADER_BYTES)),
    );
  }
}

describe('YamuxSession', () => {
  it('delivers the bytes of all streams in order, however the transport cuts them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 3000, max: 70_000 }),
        fc.array(fc.integer({ min: 2000, max: 40_000 }), { minLength: 1, maxLength: 5 }),
        async (sizes, pieceBytes, cuts) => {
          const [client, server] = sessionPair(cutting(cuts));
          const results = await Promise.all(
            sizes.map(async (sizeBytes, index) => {
              const sent = Buffer.alloc(sizeBytes, `stream ${index} of the property `);
              const stream = await client.open(signal());
              const [received] = await Promise.all([readAll(stream), writeAll(stream, sent, pieceBytes)]);
              return received.equals(sent);
            }),
          );
          expect(results).toEqual(sizes.map(() => true));
          await Promise.all([client.close(), server.close()]);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('delivers headers that arrive byte by byte', async () => {
    const [client, server] = sessionPair((bytes) => Array.from(bytes, (byte) => Buffer.of(byte)));
    const stream = await client.open(signal());
    stream.end('hello');
    expect((await readAll(stream)).toString()).toBe('hello');
    await Promise.all([client.close(), server.close()]);
  });

  it('lets a reader have what arrived before the session was lost', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    peer.send(encodeHeader(data, FLAG.ack, 1, 10), Buffer.from('last words'));
    await peer.sync();
    peer.send(encodeHeader(goAway, 0, 0, GO_AWAY.internalError));
    await peer.session.closed;
    const received: string[] = [];
    const failure = await (async () => {
      for await (const chunk of stream) received.push((chunk as Buffer).toString());
    })().catch((e: unknown) => e);
    expect(received).toEqual(['last words']);
    expect(failure).toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('fails a reader who had put bytes back before the session was lost, after those bytes', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    expect(stream.read()).toBeNull();
    stream.unshift('rest');
    peer.send(encodeHeader(goAway, 0, 0, GO_AWAY.internalError));
    await peer.session.closed;
    expect((stream.read() as Buffer).toString()).toBe('rest');
    await gone(stream);
    expect(stream.errored).toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('ends the write of a reader who still has bytes when the session is lost', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    peer.send(encodeHeader(data, FLAG.ack, 1, 4), Buffer.from('last'));
    await peer.sync();
    stream.write(Buffer.alloc(2 * INITIAL_WINDOW_BYTES));
    const drained = once(stream, 'drain');
    peer.send(encodeHeader(goAway, 0, 0, GO_AWAY.internalError));
    await drained;
    expect((stream.read() as Buffer).toString()).toBe('last');
    await gone(stream);
  });

  it('opens no more than 256 streams that the peer has not acknowledged, then goes on in order', async () => {
    const peer = new RawPeer();
    const opening = Array.from({ length: 300 }, () => peer.session.open(signal()));
    const settled = Promise.allSettled(opening);
    const opened = await Promise.all(opening.slice(0, 256));
    expect(await peer.sync()).toHaveLength(256);
    peer.send(encodeHeader(windowUpdate, FLAG.ack, opened[0]?.id ?? 0, 0));
    const next = await (opening[256] as Promise<YamuxStream>);
    expect(next.id).toBe(2 * 256 + 1);
    await peer.session.close();
    const refused = (await settled).slice(257);
    expect(refused).toHaveLength(43);
    for (const outcome of refused)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'LINK_CLOSED' } });
  });

  it('gives the turn of a cancelled opener to the next one', async () => {
    const peer = new RawPeer();
    await Promise.all(Array.from({ length: 256 }, () => peer.session.open(signal())));
    const controller = new AbortController();
    const cancelled = peer.session.open(controller.signal);
    const next = peer.session.open(signal());
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    peer.send(encodeHeader(windowUpdate, FLAG.rst, 1, 0));
    await expect(next).resolves.toMatchObject({ id: 513 });
    await peer.session.close();
  });

  it('opens no stream after the peer said goodbye, and lets the open ones finish', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    peer.send(encodeHeader(goAway, 0, 0, GO_AWAY.normal));
    await peer.sync();
    await expect(peer.session.open(signal())).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    peer.send(encodeHeader(data, FLAG.ack | FLAG.fin, 1, 3), Buffer.from('bye'));
    expect((await readAll(stream)).toString()).toBe('bye');
    await peer.session.close();
  });

  it('fails one stream and no other when the peer resets it', async () => {
    const peer = new RawPeer();
    const [first, second] = [await peer.session.open(signal()), await peer.session.open(signal())];
    const failed = readAll(first).catch((e: unknown) => e);
    peer.send(encodeHeader(windowUpdate, FLAG.rst, first.id, 0));
    expect(await failed).toMatchObject({ code: 'MUX_STREAM_RESET' });
    await peer.sync();
    expect(second.destroyed).toBe(false);
    await peer.session.close();
  });
});

describe('YamuxSession against a hostile peer', () => {
  const violations: readonly (readonly [string, string, readonly Uint8Array[]])[] = [
    ['an unknown version', 'MUX_FRAME_INVALID', [Buffer.from('SYNC 0123456789')]],
    ['an unknown type', 'MUX_FRAME_INVALID', [Buffer.from([0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])]],
    ['an unknown flag', 'MUX_FRAME_INVALID', [encodeHeader(data, 16, 1, 0)]],
    ['a stream with a number of ours', 'MUX_FRAME_INVALID', [encodeHeader(data, FLAG.syn, 3, 0)]],
    ['stream 0', 'MUX_FRAME_INVALID', [encodeHeader(data, FLAG.syn, 0, 0)]],
    ['a stream twice', 'MUX_FRAME_INVALID', [encodeHeader(data, FLAG.syn, 2, 0), encodeHeader(data, FLAG.syn, 2, 0)]],
    ['a finish twice', 'MUX_FRAME_INVALID', [encodeHeader(data, FLAG.fin, 1, 0), encodeHeader(data, FLAG.fin, 1, 0)]],
    ['data after a finish', 'MUX_FRAME_INVALID', [encodeHeader(data, FLAG.fin, 1, 0), encodeHeader(data, 0, 1, 1)]],
    ['more data than the window', 'MUX_WINDOW_EXCEEDED', [encodeHeader(data, 0, 1, INITIAL_WINDOW_BYTES + 1)]],
    ['more data than a window to nobody', 'MUX_WINDOW_EXCEEDED', [encodeHeader(data, 0, 99, INITIAL_WINDOW_BYTES + 1)]],
    ['a window that overflows', 'MUX_WINDOW_EXCEEDED', [encodeHeader(windowUpdate, 0, 1, 0xffff_ffff)]],
    ['a protocol error of its own', 'MUX_FRAME_INVALID', [encodeHeader(goAway, 0, 0, GO_AWAY.protocolError)]],
  ];

  it.each(violations)('ends the session on %s', async (_what, code, bytes) => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    const failed = readAll(stream).catch((e: unknown) => e);
    peer.send(...bytes);
    const reason = await peer.session.closed;
    expect(reason).toMatchObject({ code, fault: 'guest' });
    expect(stream.errored ?? (await failed)).toMatchObject({ code: 'LINK_CLOSED', cause: reason });
  });

  it('ends the session when a stream that nobody reads gets more than one window in all', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    const frame = Buffer.concat([encodeHeader(data, 0, 1, 16 * 1024), Buffer.alloc(16 * 1024)]);
    for (let sent = 0; sent < INITIAL_WINDOW_BYTES; sent += 16 * 1024) peer.send(frame);
    await peer.sync();
    expect(stream.destroyed).toBe(false);
    peer.send(encodeHeader(data, 0, 1, 1), Buffer.alloc(1));
    await expect(peer.session.closed).resolves.toMatchObject({ code: 'MUX_WINDOW_EXCEEDED' });
  });

  it('gives credit back when bytes are consumed, not when they arrive', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    peer.send(encodeHeader(data, FLAG.ack, 1, INITIAL_WINDOW_BYTES), Buffer.alloc(INITIAL_WINDOW_BYTES));
    const isCredit = ({ type, length }: YamuxHeader): boolean => type === windowUpdate && length > 0;
    expect((await peer.sync()).filter(isCredit)).toEqual([]);
    stream.resume();
    const credit = await peer.firstHeader(isCredit);
    expect(credit).toMatchObject({ streamId: 1, length: INITIAL_WINDOW_BYTES });
    await peer.session.close();
  });

  it('resets the streams above 256 that the peer opens, and serves the others', async () => {
    const peer = new RawPeer();
    peer.send(...Array.from({ length: 300 }, (_, i) => encodeHeader(windowUpdate, FLAG.syn, 2 * i + 2, 0)));
    const headers = await peer.sync();
    expect(peer.accepted).toHaveLength(256);
    expect(headers.filter(({ flags }) => flags === FLAG.ack)).toHaveLength(256);
    expect(headers.filter(({ flags }) => flags === FLAG.rst)).toHaveLength(44);
    const [first] = peer.accepted;
    peer.send(encodeHeader(data, FLAG.fin, 2, 2), Buffer.from('hi'));
    expect((await readAll(first as YamuxStream)).toString()).toBe('hi');
    await peer.session.close();
  });

  it('discards what is still on its way to a stream that was destroyed', async () => {
    const peer = new RawPeer();
    const stream = await peer.session.open(signal());
    const over = gone(stream);
    stream.destroy();
    await over;
    peer.send(encodeHeader(data, FLAG.ack, 1, 5), Buffer.from('stale'), encodeHeader(windowUpdate, FLAG.fin, 1, 0));
    const headers = await peer.sync();
    expect(headers.at(-1)).toMatchObject({ streamId: 1, flags: FLAG.rst });
    await peer.session.close();
  });

  it('ends the session with a peer that asks and never reads the answers', async () => {
    const [ours, theirs] = createMemoryPipe();
    const session = new YamuxSession(ours, 'client', () => undefined);
    const pings = Buffer.concat(Array.from({ length: 1000 }, (_, i) => encodeHeader(ping, FLAG.syn, 0, i)));
    let isOver = false;
    void session.closed.then(() => (isOver = true));
    while (!isOver) if (!theirs.write(pings)) await Promise.race([once(theirs, 'drain'), session.closed]);
    await expect(session.closed).resolves.toMatchObject({ code: 'MUX_BACKLOG_EXCEEDED' });
  });

  it('ends in an error of its own, or not at all, on any bytes', async () => {
    const anyFrame = fc
      .tuple(
        fc.nat({ max: 4 }),
        fc.nat({ max: 31 }),
        fc.nat({ max: 5 }),
        fc.oneof(fc.nat({ max: 20 }), fc.nat()),
        fc.uint8Array({ maxLength: 20 }),
      )
      .map(([type, flags, id, length, payload]) => {
        const header = Buffer.alloc(HEADER_BYTES);
        header[1] = type;
        header.writeUInt16BE(flags, 2);
        header.writeUInt32BE(id, 4);
        header.writeUInt32BE(length, 8);
        return Buffer.concat([header, payload]);
      });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(anyFrame, fc.uint8Array({ maxLength: 30 })), { maxLength: 30 }),
        async (pieces) => {
          const [ours, theirs] = createMemoryPipe();
          const session = new YamuxSession(ours, 'client', (stream) => stream.resume());
          theirs.resume().on('error', () => undefined);
          const stream = await session.open(signal());
          stream.resume();
          theirs.end(Buffer.concat(pieces));
          const reason = await session.closed;
          expect(reason === null || isDomainError(reason)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function sessionPair(fragment: Fragment): readonly [YamuxSession, YamuxSession] {
  const [a, b] = createMemoryPipe(fragment);
  return [new YamuxSession(a, 'client', echo), new YamuxSession(b, 'server', echo)];
}

/** Cuts each write into pieces whose sizes go round in `sizes`. */
function cutting(sizes: readonly number[]): Fragment {
  let turn = 0;
  return (bytes) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const size = sizes[turn++ % sizes.length] as number;
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    return pieces;
  };
}
