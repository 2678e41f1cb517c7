import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { dto } from '@inquest/contracts-base';
import { OpenStreamRequest, vmOps } from '@inquest/contracts-vm';
import { FrameDecoder, type Frame } from '@inquest/frame-protocol';
import { eventually } from '@inquest/testing';
import type { FakeMachine } from '@inquest/vm-driver/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

const MIB = 1024 * 1024;

describe('byte streams to and from a guest', () => {
  let vm: VmServiceHarness;
  let machineId: string;
  let machine: FakeMachine;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  beforeEach(async () => {
    ({ machineId } = await vm.boot());
    machine = vm.driver.machine(machineId);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await vm.destroy(machineId);
  });

  const script = (command: string, result: Parameters<typeof machine.guest.agent.execs.results.set>[1]): void =>
    void machine.guest.agent.execs.results.set(command, result);
  const ticket = (request: Partial<OpenStreamRequest>) =>
    vm.call(vmOps.openStream, dto(OpenStreamRequest, { machineId, ...request }));
  const framesOf = async (response: Response): Promise<Frame[]> => [
    ...new FrameDecoder().push(new Uint8Array(await response.arrayBuffer())),
  ];
  const textOf = (frames: readonly Frame[], kind: 'stdout' | 'stderr'): string =>
    frames.map((frame) => (frame.kind === kind ? Buffer.from(frame.bytes).toString() : '')).join('');
  const problemOf = async (response: Response) => ({
    status: response.status,
    code: ((await response.json()) as { code: string }).code,
  });

  it('carry the output of a command in frames, the exit last', async () => {
    script('make', { stdout: 'built\n', stderr: 'warned\n', code: 2 });
    const response = await vm.stream({ machineId, kind: 'exec', command: 'make' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/vnd.inquest.frames');
    const frames = await framesOf(response);
    expect([textOf(frames, 'stdout'), textOf(frames, 'stderr')]).toEqual(['built\n', 'warned\n']);
    expect(frames.at(-1)).toMatchObject({ kind: 'control', body: { type: 'exit', code: 2, stdoutBytes: 6 } });
  });

  it('refuse a command that cannot be run before any frame', async () => {
    const response = await vm.stream({ machineId, kind: 'exec', command: 'nope' });
    expect(await problemOf(response)).toEqual({ status: 404, code: 'EXEC_NOT_FOUND' });
  });

  it('end with the loss of the machine, within two seconds, where a command was at work', async () => {
    script('sleep 99', { stdout: 'begun\n', hangs: true });
    const response = await vm.stream({ machineId, kind: 'exec', command: 'sleep 99' });
    const killedAt = performance.now();
    const frames = framesOf(response);
    await machine.end('killed');
    expect((await frames).at(-1)).toMatchObject({
      kind: 'control',
      body: { type: 'lost', code: 'MACHINE_LOST', details: { state: 'ended' } },
    });
    expect(performance.now() - killedAt).toBeLessThan(2_000);
  });

  it('kill the command when the caller hangs up', async () => {
    script('sleep 99', { stdout: 'begun\n', hangs: true });
    const caller = new AbortController();
    await vm.stream({ machineId, kind: 'exec', command: 'sleep 99' }, { signal: caller.signal });
    await eventually(() => machine.guest.agent.execs.runningCount === 1);
    caller.abort();
    await eventually(() => machine.guest.agent.execs.runningCount === 0);
    await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready' });
  });

  it('slow a command down to the pace of its reader', async () => {
    const sizeBytes = 64 * MIB;
    // Counts as running once all of its output is written.
    script('cat big', { stdout: new Uint8Array(sizeBytes), hangs: true });
    const response = await vm.stream({ machineId, kind: 'exec', command: 'cat big' });
    const reader = response.body?.getReader();
    let receivedBytes = ((await reader?.read())?.value as Uint8Array | undefined)?.length ?? 0;
    // Other verbs go on, and the output does not pile up in between.
    await expect(vm.exec(machineId, 'nope')).rejects.toMatchObject({ code: 'EXEC_NOT_FOUND' });
    expect(machine.guest.agent.execs.runningCount).toBe(0);
    while (receivedBytes < sizeBytes)
      receivedBytes += ((await reader?.read())?.value as Uint8Array | undefined)?.length ?? sizeBytes;
    await eventually(() => machine.guest.agent.execs.runningCount === 1);
    await reader?.cancel();
    await eventually(() => machine.guest.agent.execs.runningCount === 0);
  });

  describe('tickets', () => {
    it('are good once', async () => {
      script('true', {});
      const { url, method } = await ticket({ kind: 'exec', command: 'true' });
      expect((await fetch(url, { method })).status).toBe(200);
      expect(await problemOf(await fetch(url, { method }))).toEqual({ status: 403, code: 'STREAM_TICKET_INVALID' });
    });

    it('are good for one kind of stream only', async () => {
      machine.guest.agent.files.write('/secret', 'secret');
      const get = await ticket({ kind: 'get', path: '/secret', archive: 'file' });
      expect(await problemOf(await fetch(get.url, { method: 'POST' }))).toEqual({
        status: 403,
        code: 'HTTP_SIGNATURE_REFUSED',
      });
    });

    it('are refused when anything of the address was changed', async () => {
      const { url, method } = await ticket({ kind: 'exec', command: 'true' });
      for (const forged of [
        url.replace(/signature=(.)/, (_, first) => `signature=${first === 'a' ? 'b' : 'a'}`),
        url.replace('/streams/', '/streams/x'),
        url.split('?')[0],
      ]) {
        expect(await problemOf(await fetch(forged ?? '', { method }))).toEqual({
          status: 403,
          code: 'HTTP_SIGNATURE_REFUSED',
        });
      }
      expect(machine.guest.agent.execs.runningCount).toBe(0);
    });

    it('expire', async () => {
      const { url, method, expiresAtMs } = await ticket({ kind: 'exec', command: 'true' });
      jest.spyOn(Date, 'now').mockReturnValue(expiresAtMs);
      expect(await problemOf(await fetch(url, { method }))).toEqual({ status: 403, code: 'HTTP_SIGNATURE_EXPIRED' });
    });

    it('hold neither the command nor its environment in their address', async () => {
      const env = { TOKEN: 'canary-77' };
      const { url } = await ticket({ kind: 'exec', command: 'canary-command', env });
      expect(decodeURIComponent(url)).not.toMatch(/canary/);
    });

    it('are refused for a machine of an earlier incarnation', async () => {
      await vm.reset(machineId);
      await vm.waitFor(machineId, 'ready');
      const response = await vm.stream({ machineId, kind: 'exec', command: 'true', incarnation: 1 });
      expect(await problemOf(response)).toEqual({ status: 409, code: 'MACHINE_INCARNATION_STALE' });
    });
  });

  describe('a put', () => {
    it('brings every byte into the guest', async () => {
      const content = Buffer.alloc(3 * MIB, 'x');
      const response = await vm.stream(
        { machineId, kind: 'put', path: '/srv/app.tar', archive: 'tar' },
        { body: content },
      );
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ entries: 1, bytes: content.length });
      expect(machine.guest.agent.files.files.get('/srv/app.tar')?.bytes.length).toBe(content.length);
    });

    it('that is refused half way still gets its answer', async () => {
      jest
        .spyOn(machine.guest.agent.files, 'put')
        .mockImplementation((channel) =>
          channel.sendControl({ type: 'error', code: 'DISK_FULL', message: 'no space left' }),
        );
      const { url, method } = await ticket({ kind: 'put', path: '/srv/big', archive: 'file' });
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sending = httpRequest(url, { method }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        });
        sending.once('error', reject);
        sending.write(Buffer.alloc(4 * MIB));
        sending.end(Buffer.alloc(4 * MIB));
      });
      expect(status).toBe(507);
    });
  });

  describe('a get', () => {
    it('brings every byte out of the guest', async () => {
      const content = Buffer.from(Array.from({ length: 2 * MIB }, (_, i) => i % 251));
      machine.guest.agent.files.write('/srv/data', content);
      const response = await vm.stream({ machineId, kind: 'get', path: '/srv/data', archive: 'file' });
      expect(response.status).toBe(200);
      const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
      expect(digest(new Uint8Array(await response.arrayBuffer()))).toBe(digest(content));
    });

    it('of a path that is not there says so with a status', async () => {
      const response = await vm.stream({ machineId, kind: 'get', path: '/nope', archive: 'file' });
      expect(await problemOf(response)).toEqual({ status: 404, code: 'PATH_NOT_FOUND' });
    });

    it('that breaks in the middle is cut, not ended', async () => {
      machine.guest.agent.files.write('/srv/data', Buffer.alloc(32 * MIB));
      const response = await vm.stream({ machineId, kind: 'get', path: '/srv/data', archive: 'file' });
      expect(response.status).toBe(200);
      await machine.end('killed');
      await expect(response.arrayBuffer()).rejects.toThrow();
    });
  });

  describe('a tail', () => {
    it('says where it begins, brings what is there, and says where the next one goes on', async () => {
      machine.guest.agent.files.write('/var/log/build', 'one\ntwo\n');
      const request = { machineId, kind: 'tail', path: '/var/log/build' } as const;
      const first = await framesOf(await vm.stream({ ...request, fromOffset: 4 }));
      expect(first).toEqual([
        { kind: 'control', body: { type: 'ok', offset: 4 } },
        { kind: 'data-from-guest', bytes: expect.objectContaining({ length: 4 }) },
        { kind: 'control', body: { type: 'eof', offset: 8 } },
      ]);
      machine.guest.agent.files.write('/var/log/build', 'one\ntwo\nthree\n');
      const second = await framesOf(await vm.stream({ ...request, fromOffset: 8 }));
      expect(second.at(-1)).toEqual({ kind: 'control', body: { type: 'eof', offset: 14 } });
    });

    it('asks the guest to follow for as long as the caller wants', async () => {
      machine.guest.agent.files.write('/var/log/build', '');
      await framesOf(await vm.stream({ machineId, kind: 'tail', path: '/var/log/build', idleMs: 600_000 }));
      expect(machine.guest.agent.requests).toContainEqual({
        op: 'tail',
        path: '/var/log/build',
        fromOffset: 0,
        idleMs: 600_000,
      });
    });

    it('of a path that is not there says so with a status, and its ticket opens nothing else', async () => {
      const missing = await vm.stream({ machineId, kind: 'tail', path: '/nope' });
      expect(await problemOf(missing)).toEqual({ status: 404, code: 'PATH_NOT_FOUND' });
      const { url } = await ticket({ kind: 'tail', path: '/nope' });
      expect(await problemOf(await fetch(url.replace('/tail?', '?')))).toEqual({
        status: 403,
        code: 'HTTP_SIGNATURE_REFUSED',
      });
    });
  });
});
