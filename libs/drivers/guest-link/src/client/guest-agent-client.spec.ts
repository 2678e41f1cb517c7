import { once } from 'node:events';
import { Readable } from 'node:stream';
import { encodeControl, encodeData, encodeEnd, FRAME_PORT, MAX_DATA_BYTES } from '@inquest/frame-protocol';
import { createFakeGuest, type FakeGuest } from '../testing/fake-guest-agent';
import { createMemoryLinkPair } from '../testing/memory-link';
import { readAll } from '../testing/stream-bytes';
import { GuestAgentClient } from './guest-agent-client';

const signal = AbortSignal.timeout(60_000);
const options = { signal } as const;
const bounds = { headBytes: 4, tailBytes: 4 };

describe('GuestAgentClient', () => {
  let guest: FakeGuest;
  let client: GuestAgentClient;
  beforeEach(async () => {
    guest = await createFakeGuest();
    client = new GuestAgentClient(guest.link);
  });
  afterEach(() => guest.link.close());

  it('asks the agent who it is with a fresh nonce each time', async () => {
    await client.ping(options);
    await client.ping(options);
    const nonces = guest.agent.requests.map((request) => request['nonce']);
    expect(new Set(nonces).size).toBe(2);
  });

  it('gives the outputs and the exit of a command, and its failure is a result', async () => {
    guest.agent.execs.results.set('make', { stdout: 'out', stderr: 'err', code: 3 });
    const exec = await client.exec({ shell: 'make' }, { ...options, cwd: '/srv', env: { A: '1' } });
    const outputs = { stdout: '', stderr: '' };
    for await (const { stream, bytes } of exec.output) outputs[stream] += Buffer.from(bytes).toString();
    expect(outputs).toEqual({ stdout: 'out', stderr: 'err' });
    await expect(exec.exit).resolves.toMatchObject({ code: 3, signal: null, timedOut: false });
    expect(guest.agent.requests).toEqual([{ op: 'exec', shell: 'make', cwd: '/srv', env: { A: '1' } }]);
  });

  it('keeps head and tail of a long output and says what it dropped', async () => {
    guest.agent.execs.results.set('seq', { stdout: `head${'x'.repeat(3 * MAX_DATA_BYTES)}tail` });
    const { stdout, stderr, code } = await client.execBounded({ argv: ['seq'] }, { ...options, bounds });
    expect(Buffer.from(stdout.head).toString()).toBe('head');
    expect(Buffer.from(stdout.tail).toString()).toBe('tail');
    expect(stdout).toMatchObject({ totalBytes: 3 * MAX_DATA_BYTES + 8, isTruncated: true });
    expect(stderr).toMatchObject({ totalBytes: 0, isTruncated: false });
    expect(code).toBe(0);
  });

  it('rejects with the code of the guest when a command could not be run', async () => {
    await expect(client.exec({ shell: 'nope' }, options)).rejects.toMatchObject({
      code: 'EXEC_NOT_FOUND',
      fault: 'caller',
    });
    expect(guest.agent.execs.runningCount).toBe(0);
  });

  it('ends a command in the guest when its iteration is left', async () => {
    guest.agent.execs.results.set('yes', { stdout: 'y', hangs: true });
    const exec = await client.exec({ shell: 'yes' }, options);
    for await (const chunk of exec.output) {
      expect(Buffer.from(chunk.bytes).toString()).toBe('y');
      break;
    }
    await expect(exec.exit).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await expect(client.signal({ execId: exec.started.execId, signal: 'SIGTERM' }, options)).rejects.toMatchObject({
      code: 'EXEC_ID_UNKNOWN',
    });
  });

  it('kills a command while its output is awaited', async () => {
    guest.agent.execs.results.set('sleep', { hangs: true });
    const exec = await client.exec({ shell: 'sleep' }, options);
    const output = readOutput(exec.output);
    exec.kill();
    await expect(output).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await expect(exec.exit).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await client.ping(options);
    expect(guest.agent.execs.runningCount).toBe(0);
  });

  it('ends a command in the guest when the signal of its caller aborts', async () => {
    guest.agent.execs.results.set('sleep', { hangs: true });
    const controller = new AbortController();
    const exec = await client.exec({ shell: 'sleep' }, { signal: controller.signal });
    controller.abort();
    await expect(exec.exit).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await expect(readOutput(exec.output)).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await client.ping(options);
    expect(guest.agent.execs.runningCount).toBe(0);
  });

  it('delivers signals and reports the one that ended the command', async () => {
    guest.agent.execs.results.set('sleep', { hangs: true });
    const exec = await client.exec({ shell: 'sleep' }, options);
    const output = readOutput(exec.output);
    await client.signal({ execId: exec.started.execId, signal: 'SIGINT' }, options);
    await output;
    await expect(exec.exit).resolves.toMatchObject({ code: null, signal: 'SIGINT' });
  });

  it('fails everything under way with LINK_CLOSED when the guest dies', async () => {
    guest.agent.execs.results.set('sleep', { hangs: true });
    const exec = await client.exec({ shell: 'sleep' }, options);
    const output = readOutput(exec.output);
    guest.sever();
    await expect(output).rejects.toMatchObject({ code: 'LINK_CLOSED', fault: 'guest' });
    await expect(exec.exit).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await expect(client.ping(options)).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('stores a stream of any size and gives it back unchanged', async () => {
    const bytes = Buffer.alloc(3 * MAX_DATA_BYTES + 5, 'inquest ');
    const stored = await client.put({ dest: '/srv/x', kind: 'file', mode: '0600' }, Readable.from([bytes]), options);
    expect(stored).toEqual({ entries: 1, bytes: bytes.length });
    await expect(client.stat('/srv/x', options)).resolves.toMatchObject({
      kind: 'file',
      size: bytes.length,
      mode: '0600',
    });
    const { content, end } = await client.get({ path: '/srv/x', kind: 'file' }, { ...options, maxBytes: bytes.length });
    expect((await readAll(content)).equals(bytes)).toBe(true);
    await expect(end).resolves.toMatchObject({ bytes: bytes.length });
  });

  it('fails a put with the error of its source and leaves no file', async () => {
    const source = Readable.from(
      (async function* () {
        yield await Promise.resolve(Buffer.from('part'));
        throw new Error('disk gone');
      })(),
    );
    await expect(client.put({ dest: '/srv/x', kind: 'file' }, source, options)).rejects.toThrow('disk gone');
    await client.ping(options);
    expect(guest.agent.files.read('/srv/x')).toBeNull();
  });

  it('fails a get above the size that the caller accepts', async () => {
    guest.agent.files.write('/big', 'x'.repeat(100));
    const { content, end } = await client.get({ path: '/big', kind: 'file' }, { ...options, maxBytes: 99 });
    await expect(readAll(content)).rejects.toMatchObject({ code: 'TRANSFER_OVERSIZED' });
    await expect(end).rejects.toMatchObject({ code: 'TRANSFER_OVERSIZED' });
  });

  it('follows a file from an offset and says where it ended', async () => {
    guest.agent.files.write('/log', 'one\ntwo\n');
    const tail = await client.tail({ path: '/log', fromOffset: 4 }, options);
    let text = '';
    for await (const bytes of tail) text += Buffer.from(bytes).toString();
    expect(text).toBe('two\n');
    expect(tail.offset).toBe(8);
  });

  it('lists, removes and measures', async () => {
    guest.agent.files.write('/srv/a', 'a');
    guest.agent.files.write('/srv/sub/b', 'b');
    const { entries } = await client.list({ path: '/srv' }, options);
    expect(entries.map(({ name, kind }) => `${kind} ${name}`)).toEqual(['file a', 'dir sub']);
    await client.remove({ path: '/srv', recursive: true }, options);
    await expect(client.list({ path: '/srv' }, options)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(client.metrics(options)).resolves.toMatchObject({ execs: 0 });
  });

  it('shows each change of the guest as a beat until the guest is gone', async () => {
    const beats = client.watch(options);
    await expect(beats.next()).resolves.toMatchObject({ value: { initStopping: false } });
    const changed = beats.next();
    guest.agent.setBeat({ initStopping: true, rootReadonly: true });
    await expect(changed).resolves.toMatchObject({ value: { initStopping: true, rootReadonly: true } });
    const ended = beats.next();
    guest.sever();
    await expect(ended).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('asks for clock, sync and shutdown', async () => {
    await client.clock(1_767_225_600_123, options);
    await client.quiesce(options);
    await client.shutdown('poweroff', options);
    expect(guest.agent.requests).toEqual([
      { op: 'clock', setToMs: 1_767_225_600_123 },
      { op: 'quiesce' },
      { op: 'shutdown', mode: 'poweroff' },
    ]);
  });

  it('sends nothing for a caller who has cancelled', async () => {
    await expect(client.ping({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(guest.agent.requests).toEqual([]);
  });
});

describe('GuestAgentClient against a hostile agent', () => {
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
    const beat = encodeControl({ type: 'beat', uptimeMs: 1, rootReadonly: false, initStopping: false, execs: 0 });
    const beats = (await answering([beat])).watch({ signal, deadlineMs: 20 });
    await beats.next();
    await expect(beats.next()).rejects.toMatchObject({ code: 'AGENT_ANSWER_LATE' });
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
    const late = await client.get(request, { signal, deadlineMs: 20, maxBytes: 1 });
    await expect(readAll(late.content)).rejects.toMatchObject({ code: 'AGENT_ANSWER_LATE' });
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

async function readOutput(output: AsyncIterable<unknown>): Promise<number> {
  let chunks = 0;
  for await (const chunk of output) if (chunk) chunks++;
  return chunks;
}
