import { dto } from '@inquest/contracts-base';
import {
  CancelExecRequest,
  IncarnationRequest,
  ListFilesRequest,
  ReadFileRequest,
  vmOps,
  WriteFileRequest,
} from '@inquest/contracts-vm';
import { newId } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import type { FakeMachine } from '@inquest/vm-driver/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('verbs on a guest', () => {
  let vm: VmServiceHarness;
  let machineId: string;
  let machine: FakeMachine;
  const logged: string[] = [];

  beforeAll(async () => {
    jest.spyOn(process.stdout, 'write').mockImplementation((line) => logged.push(String(line)) > 0);
    vm = await VmServiceHarness.start({ INQUEST_LOG_LEVEL: 'verbose' });
  }, 120_000);
  afterAll(async () => {
    await vm.stop();
    jest.restoreAllMocks();
  }, 60_000);
  beforeEach(async () => {
    ({ machineId } = await vm.boot());
    machine = vm.driver.machine(machineId);
  });
  afterEach(() => vm.destroy(machineId));

  const script = (command: string, result: Parameters<typeof machine.guest.agent.execs.results.set>[1]): void =>
    void machine.guest.agent.execs.results.set(command, result);

  it('give a failing command as a result, not as an error', async () => {
    script('false', { code: 3, stderr: 'no\n' });
    await expect(vm.exec(machineId, 'false')).resolves.toMatchObject({
      exitCode: 3,
      signal: null,
      timedOut: false,
      stderr: { text: 'no\n' },
    });
    await expect(vm.exec(machineId, 'nope')).rejects.toMatchObject({ code: 'EXEC_NOT_FOUND', fault: 'caller' });
  });

  it('pass directory, user, environment and time limit to the guest, and log no environment', async () => {
    script('sleep 9', { hangs: true });
    const env = { TOKEN: 'canary-5f3a9c' };
    const result = await vm.exec(machineId, 'sleep 9', { cwd: '/srv', user: 'agent', env, timeoutMs: 50 });
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true });
    expect(machine.guest.agent.requests).toContainEqual(
      expect.objectContaining({ op: 'exec', shell: 'sleep 9', cwd: '/srv', user: 'agent', env, timeoutMs: 50 }),
    );
    await vm.exec(machineId, 'nope', { env }).catch(() => undefined);
    await vm.exec(machineId, 'x', { env, timeoutMs: -1 }).catch(() => undefined);
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join('')).not.toContain('canary-5f3a9c');
  });

  it('end when they are cancelled, and a second time there is nothing to cancel', async () => {
    script('sleep 99', { hangs: true });
    const execId = newId<string>('exec');
    const running = vm.exec(machineId, 'sleep 99', { execId }).catch((e: unknown) => e);
    await eventually(() => machine.guest.agent.execs.runningCount === 1);
    const cancel = dto(CancelExecRequest, { machineId, execId });
    await expect(vm.call(vmOps.cancelExec, cancel)).resolves.toEqual({ isCancelled: true });
    await expect(running).resolves.toMatchObject({ code: 'OPERATION_ABORTED' });
    await eventually(() => machine.guest.agent.execs.runningCount === 0);
    await expect(vm.call(vmOps.cancelExec, cancel)).resolves.toEqual({ isCancelled: false });
  });

  it('keep head and tail of a long output and count the rest', async () => {
    script('yes', { stdout: `${'a'.repeat(600)}${'b'.repeat(100_000)}${'c'.repeat(600)}` });
    const { stdout } = await vm.exec(machineId, 'yes', { maxOutputBytes: 1024 });
    expect(stdout).toMatchObject({ totalBytes: 101_200, droppedBytes: 101_200 - 1024, isLossy: false });
    expect(stdout.text).toBe(`${'a'.repeat(512)}\n[100176 bytes left out]\n${'c'.repeat(512)}`);
  });

  it('answer also when the output is all NUL and as long as one may ask for', async () => {
    script('cat /dev/zero', { stdout: new Uint8Array(300 * 1024), stderr: new Uint8Array(300 * 1024) });
    const { stdout, stderr } = await vm.exec(machineId, 'cat /dev/zero', { maxOutputBytes: 256 * 1024 });
    expect([stdout.totalBytes, stderr.totalBytes]).toEqual([300 * 1024, 300 * 1024]);
    expect(stdout.droppedBytes).toBeGreaterThan(0);
  });

  it('write a file, read it back and list it', async () => {
    const write = dto(WriteFileRequest, { machineId, path: '/srv/a.txt', text: 'zwölf', mode: '0755' });
    await expect(vm.call(vmOps.writeFile, write)).resolves.toEqual({ sizeBytes: 6 });
    expect(machine.guest.agent.files.files.get('/srv/a.txt')).toMatchObject({ mode: '0755' });
    const read = dto(ReadFileRequest, { machineId, path: '/srv/a.txt' });
    await expect(vm.call(vmOps.readFile, read)).resolves.toEqual({
      text: 'zwölf',
      sizeBytes: 6,
      isTruncated: false,
      isLossy: false,
    });
    await expect(vm.call(vmOps.readFile, { ...read, maxBytes: 3 })).resolves.toEqual({
      text: 'zw',
      sizeBytes: 6,
      isTruncated: true,
      isLossy: false,
    });
    await expect(vm.call(vmOps.listFiles, dto(ListFilesRequest, { machineId, path: '/srv' }))).resolves.toMatchObject({
      entries: [{ name: 'a.txt', kind: 'file', sizeBytes: 6, mode: '0755' }],
      isTruncated: false,
    });
  });

  it('name a path that is not there or is no file', async () => {
    const read = (path: string) => vm.call(vmOps.readFile, dto(ReadFileRequest, { machineId, path }));
    machine.guest.agent.files.write('/srv/b.txt', 'b');
    await expect(read('/nope')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND', fault: 'caller' });
    await expect(read('/srv')).rejects.toMatchObject({
      code: 'GUEST_PATH_UNFIT',
      message: expect.stringContaining('/srv'),
    });
    await expect(read('relative')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  it('say that a machine has no screen', async () => {
    const shot = vm.call(vmOps.screenshot, dto(IncarnationRequest, { machineId }));
    await expect(shot).rejects.toMatchObject({ code: 'MACHINE_CAPABILITY_MISSING' });
  });

  it('tell how busy the guest is', async () => {
    const metrics = await vm.call(vmOps.guestMetrics, dto(IncarnationRequest, { machineId }));
    expect(metrics).toMatchObject({ load1: 0, memoryTotalKib: 262_144, memoryAvailableKib: 200_000, processes: 10 });
    const stale = vm.call(vmOps.guestMetrics, dto(IncarnationRequest, { machineId, incarnation: 7 }));
    await expect(stale).rejects.toMatchObject({ code: 'MACHINE_INCARNATION_STALE' });
  });

  it('are lost with the machine, within two seconds, and say how it ended', async () => {
    script('sleep 99', { hangs: true });
    const running = vm.exec(machineId, 'sleep 99').catch((e: unknown) => e);
    await eventually(() => machine.guest.agent.execs.runningCount === 1);
    const killedAt = performance.now();
    await machine.end('panic');
    await expect(running).resolves.toMatchObject({
      code: 'MACHINE_LOST',
      fault: 'guest',
      message: expect.stringMatching(/panic/i),
      details: { machine: machineId, state: 'ended' },
    });
    expect(performance.now() - killedAt).toBeLessThan(2_000);
  });

  it('are lost with the guest agent, and say that the machine still runs', async () => {
    script('sleep 99', { hangs: true });
    const running = vm.exec(machineId, 'sleep 99').catch((e: unknown) => e);
    await eventually(() => machine.guest.agent.execs.runningCount === 1);
    machine.guest.sever();
    await expect(running).resolves.toMatchObject({
      code: 'MACHINE_LOST',
      message: expect.stringContaining('still runs'),
      details: { state: 'ready' },
    });
    await expect(vm.verdict(machineId)).resolves.toMatchObject({
      isProvisional: true,
      verdict: { class: 'agent_lost', ended: false },
    });
  });
});
