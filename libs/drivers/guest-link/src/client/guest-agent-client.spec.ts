import { Readable } from 'node:stream';
import { MAX_DATA_BYTES } from '@inquest/frame-protocol';
import { createFakeGuest, type FakeGuest } from '../testing/fake-guest-agent';
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

  it('types on the terminal of a command, reads what it shows and changes its size', async () => {
    guest.agent.execs.results.set('sh', { stdout: '$ ' });
    const pty = { cols: 80, rows: 24, term: 'vt220' };
    const exec = await client.exec({ argv: ['sh'] }, { ...options, pty });
    expect(guest.agent.requests).toEqual([{ op: 'exec', argv: ['sh'], pty }]);
    const [terminal] = guest.agent.execs.terminals;
    const { execId } = exec.started;
    await client.resize({ execId, cols: 132, rows: 43 }, options);
    expect(terminal?.sizes).toEqual([{ cols: 132, rows: 43 }]);
    await exec.writeStdin(Buffer.from('exit 3\r'));
    await terminal?.whenTyped('exit 3\r');
    let shown = '';
    for await (const { bytes } of exec.output) {
      shown += Buffer.from(bytes).toString();
      terminal?.end(3);
    }
    expect(shown).toBe('$ ');
    await expect(exec.exit).resolves.toMatchObject({ code: 3 });
    await expect(client.resize({ execId, cols: 80, rows: 24 }, options)).rejects.toMatchObject({
      code: 'EXEC_ID_UNKNOWN',
    });
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

  it('offers ways out, and hears of them in the answer to a ping', async () => {
    await expect(client.ping(options)).resolves.toMatchObject({ egress: false });
    await client.offer({ egress: true, localModel: false }, options);
    expect(guest.agent.requests.at(-1)).toEqual({ op: 'offer', egress: true, localModel: false });
    await expect(client.ping(options)).resolves.toMatchObject({ egress: true });
  });

  it('gives a clone an identity and hears from it under the new name', async () => {
    const names = { hostname: 'clone-7', machineId: 'ab'.repeat(16), entropy: 'cd'.repeat(32) };
    await expect(client.rebirth({ ...names, nowMs: () => 7 }, options)).resolves.toMatchObject({ hostname: 'clone-7' });
    const { nonce } = guest.agent.requests[0] as { readonly nonce: string };
    expect(guest.agent.requests).toEqual([{ op: 'rebirth', nonce, setToMs: 7, ...names }]);
    expect(nonce).toHaveLength(36);
  });

  it('sends nothing for a caller who has cancelled', async () => {
    await expect(client.ping({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(guest.agent.requests).toEqual([]);
  });
});

async function readOutput(output: AsyncIterable<unknown>): Promise<number> {
  let chunks = 0;
  for await (const chunk of output) if (chunk) chunks++;
  return chunks;
}
