import { once } from 'node:events';
import { Readable } from 'node:stream';
import { encodeControl, encodeData, encodeEnd, FRAME_PORT } from '@inquest/frame-protocol';
import { createMemoryLinkPair } from '../testing/memory-link';
import { readAll } from '../testing/stream-bytes';
import { GuestAgentClient } from './guest-agent-client';

const signal = AbortSignal.timeout(60_000);
const options = { signal } as const;
const bounds = { headBytes: 4, tailBytes: 4 };

/** Only timeouts: the link in memory needs the real event loop. */
const fakeTimeouts = (): void =>
  void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });

describe('GuestAgentClient against a hostile agent', () => {
  afterEach(() => void jest.useRealTimers());

  /** An agent that answers every request with these bytes and then stays silent, or ends the stream. */
  async function answering(bytes: readonly Uint8Array[], ends = false): Promise<GuestAgentClient> {
    const { host, guest } = createMemoryLinkPair();
    await guest.listen(FRAME_PORT, (stream) => {
      stream.write(Buffer.concat(bytes));
      if (ends) stream.end();
      stream.resume();
    });
    return new GuestAgentClient(host);
  }
  const started = encodeControl({ type: 'started', execId: 'e-1', pid: 1 });
  const ok = encodeControl({ type: 'ok' });
  const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const getAll = async (client: GuestAgentClient): Promise<Buffer> => {
    const { content } = await client.get({ path: '/x', kind: 'file' }, { ...options, maxBytes: 1000 });
    return readAll(content);
  };

  it('refuses a pong with another nonce', async () => {
    const pong = { protocol: 1, agentVersion: '', bootId: '', uptimeMs: 0, kernel: '', hostname: '', egress: false };
    const client = await answering([encodeControl({ type: 'pong', nonce: 'stale', ...pong })]);
    await expect(client.ping(options)).rejects.toMatchObject({ code: 'AGENT_NONCE_MISMATCH' });
  });

  it('gives up on an agent that stays silent', async () => {
    const client = await answering([]);
    await expect(client.ping({ signal, deadlineMs: 20 })).rejects.toMatchObject({
      code: 'AGENT_ANSWER_LATE',
      fault: 'guest',
    });
  });

  it('gives up on a watch whose beats stop', async () => {
    fakeTimeouts();
    const beat = encodeControl({ type: 'beat', uptimeMs: 1, rootReadonly: false, initStopping: false, execs: 0 });
    const beats = (await answering([beat])).watch({ signal, deadlineMs: 5000 });
    await beats.next();
    const silent = beats.next();
    jest.advanceTimersByTime(5000);
    await expect(silent).rejects.toMatchObject({ code: 'AGENT_ANSWER_LATE' });
  });

  it.each([
    ['output before started', [encodeData('stdout', Buffer.from('x'))]],
    ['an end in the output', [started, encodeEnd()]],
    ['data of a get in the output', [started, encodeData('data-from-guest', Buffer.from('x'))]],
    ['started twice', [started, started]],
  ])('refuses %s', async (_what, bytes) => {
    const client = await answering(bytes);
    await expect(client.execBounded({ shell: 'x' }, { ...options, bounds })).rejects.toMatchObject({
      code: 'FRAME_ORDER_INVALID',
    });
  });

  it('refuses a stream that ends inside a frame', async () => {
    const client = await answering([started, encodeData('stdout', Buffer.alloc(100)).subarray(0, 50)], true);
    await expect(client.execBounded({ shell: 'x' }, { ...options, bounds })).rejects.toMatchObject({
      code: 'FRAME_TRUNCATED',
    });
  });

  it('does not take an end without exit for success', async () => {
    const client = await answering([started], true);
    await expect(client.execBounded({ shell: 'x' }, { ...options, bounds })).rejects.toMatchObject({
      code: 'LINK_CLOSED',
    });
  });

  it.each([
    [
      'another sha256',
      [encodeData('data-from-guest', Buffer.from('x')), encodeEnd(), encodeControl({ type: 'end', bytes: 1, sha256 })],
    ],
    ['another size', [encodeEnd(), encodeControl({ type: 'end', bytes: 1, sha256 })]],
  ])('refuses a get with %s than declared', async (_what, bytes) => {
    await expect(getAll(await answering([ok, ...bytes]))).rejects.toMatchObject({ code: 'TRANSFER_CORRUPTED' });
  });

  it('passes on an error in the middle of a get', async () => {
    const error = encodeControl({ type: 'error', code: 'PATH_IO', message: 'bad sector' });
    const client = await answering([ok, encodeData('data-from-guest', Buffer.from('x')), error]);
    await expect(getAll(client)).rejects.toMatchObject({ code: 'PATH_IO' });
  });

  it('lets go of a get that stays silent, when its reader does or when time is up', async () => {
    const client = await answering([ok]);
    const request = { path: '/x', kind: 'file' } as const;
    const abandoned = await client.get(request, { ...options, maxBytes: 1 });
    abandoned.content.resume().destroy();
    await expect(abandoned.end).rejects.toMatchObject({ code: 'LINK_CLOSED' });

    fakeTimeouts();
    const late = await client.get(request, { signal, deadlineMs: 5000, maxBytes: 1 });
    late.content.read();
    jest.advanceTimersByTime(5000);
    await expect(late.end).rejects.toMatchObject({ code: 'AGENT_ANSWER_LATE' });
  });

  it('stops a put as soon as it is refused, and releases its source', async () => {
    const client = await answering([encodeControl({ type: 'error', code: 'DISK_FULL', message: 'no space' })]);
    const source = new Readable({ read: () => undefined });
    source.push(Buffer.from('x'));
    const closed = once(source, 'close');
    await expect(client.put({ dest: '/x', kind: 'file' }, source, options)).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
    await closed;
  });

  it('does not believe a put that is confirmed before its data was sent', async () => {
    const client = await answering([encodeControl({ type: 'ok', entries: 1, bytes: 1 })]);
    const source = new Readable({ read: () => undefined });
    await expect(client.put({ dest: '/x', kind: 'file' }, source, options)).rejects.toMatchObject({
      code: 'FRAME_ORDER_INVALID',
    });
  });

  it('ends a tail normally, with its offset, when the guest goes away', async () => {
    const client = await answering(
      [encodeControl({ type: 'ok', offset: 10 }), encodeData('data-from-guest', Buffer.from('abc'))],
      true,
    );
    const tail = await client.tail({ path: '/x', fromOffset: 10 }, options);
    const chunks: string[] = [];
    for await (const bytes of tail) chunks.push(Buffer.from(bytes).toString());
    expect(chunks).toEqual(['abc']);
    expect(tail.offset).toBe(13);
  });
});
