import { rm, writeFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { vmOps } from '@inquest/contracts-vm';
import { createFakeGuest, createMemoryLinkPair, FakeGuestAgent } from '@inquest/guest-link/testing';
import { eventually } from '@inquest/testing';
import { vmDriverError } from '@inquest/vm-driver';
import { VmServiceHarness } from '../testing/vm-service-harness';

/** Puts a file in the place of a directory of evidence, so that every write fails, as on a full disk. */
async function isReplacedByFile(directory: string): Promise<boolean> {
  try {
    await rm(directory, { recursive: true, force: true });
    await writeFile(directory, '', { flag: 'wx' });
    return true;
  } catch {
    return false; // a record that came in between has made the directory again
  }
}

describe('machines that do not do what they should', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start({ INQUEST_BOOT_TIMEOUT_MS: '1000' });
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  afterEach(() => {
    jest.restoreAllMocks();
    vm.driver.makeGuest = () => createFakeGuest();
    vm.driver.duringStart = () => Promise.resolve();
  });

  /** Guests whose agent never comes up. */
  const mute = async () => {
    const { host, sever } = createMemoryLinkPair();
    return { link: host, agent: new FakeGuestAgent(), sever };
  };

  it('are torn down when their agent does not answer in time, and show the last console lines', async () => {
    vm.driver.makeGuest = mute;
    const { machineId } = await vm.start();
    await eventually(() => vm.driver.machine(machineId).pid > 0);
    vm.driver.machine(machineId).print('Kernel command line: quiet\r\nVFS: Cannot open root device\r\n');
    const ended = await vm.waitFor(machineId, 'ended');
    expect(ended).toMatchObject({ state: 'ended', readyAtMs: null, verdict: { ended: true } });
    expect(ended.message).toContain('VFS: Cannot open root device');
    expect(vm.driver.machine(machineId).hasEnded).toBe(true);
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ verdict: ended.verdict });
    await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, directoryRemoved: true });
  });

  it('that die while they boot are told as they died', async () => {
    vm.driver.makeGuest = mute;
    const { machineId } = await vm.start();
    await vm.waitFor(machineId, 'starting');
    await eventually(() => vm.driver.machine(machineId).pid > 0);
    await vm.driver.machine(machineId).end('panic');
    await expect(vm.waitFor(machineId, 'ended')).resolves.toMatchObject({
      reason: 'panicked',
      message: expect.stringContaining('Last console lines'),
    });
  });

  it('that boot can be destroyed at once', async () => {
    vm.driver.makeGuest = mute;
    const { machineId } = await vm.start();
    await eventually(() => vm.driver.machine(machineId).pid > 0);
    await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, signalled: true });
    await expect(vm.show(machineId)).resolves.toMatchObject({
      state: 'ended',
      isRemoved: true,
      verdict: { class: 'host_killed' },
    });
  });

  it('have a provisional verdict of their own while they live: running, hung, silent monitor', async () => {
    const { machineId } = await vm.boot();
    const machine = vm.driver.machine(machineId);
    await expect(vm.verdict(machineId)).resolves.toMatchObject({
      isProvisional: true,
      verdict: { class: 'still_running', ended: false },
    });
    jest.spyOn(machine.link, 'connect').mockImplementation((_port, signal) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    });
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ isProvisional: true, verdict: { class: 'hung' } });
    await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready', verdict: null });
    machine.freezeMonitor();
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ isProvisional: true });
    await vm.destroy(machineId);
  });

  it('can be destroyed while the disk takes no evidence, and the verdict says what is missing', async () => {
    const { machineId } = await vm.boot();
    const directory = path.dirname(vm.evidenceFile(machineId, 'meta.json'));
    await eventually(() => isReplacedByFile(directory));
    await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, directoryRemoved: true });
    const ended = await vm.show(machineId);
    expect(ended).toMatchObject({ state: 'ended', isRemoved: true, verdict: { confidence: 'weak' } });
    expect(ended.message).toContain('could not be closed on disk');
    await expect(vm.boot()).resolves.toMatchObject({ state: 'ready' });
  });

  it('that cannot be killed are not called gone', async () => {
    const { machineId } = await vm.boot();
    const unkillable = vmDriverError('VM_PROCESS_UNKILLABLE', 'process 7 is stuck in the kernel');
    jest.spyOn(vm.driver.machine(machineId), 'stop').mockRejectedValue(unkillable);
    jest
      .spyOn(vm.driver, 'destroyInstance')
      .mockResolvedValue({ killed: false, signalled: true, directoryRemoved: false });
    await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: false, directoryRemoved: false });
    await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready', isRemoved: false });
    await expect(vm.reset(machineId)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    jest.restoreAllMocks();
    await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, directoryRemoved: true });
  });

  it('that end while Postgres is away have their end recorded when it is back', async () => {
    const { machineId } = await vm.boot();
    // The fixture's Postgres commits lazily; the machine is to be on its disk when it is killed.
    await vm.database.query('CHECKPOINT');
    await vm.postgres.kill();
    await vm.driver.machine(machineId).end('killed');
    await vm.postgres.restart();
    await eventually(async () => (await vm.show(machineId)).state === 'ended');
    await expect(vm.show(machineId)).resolves.toMatchObject({ verdict: { class: 'host_killed' } });
  });

  it('do not keep the node from answering while its accelerator is being probed', async () => {
    await vm.stopVmService();
    let found: () => void = () => undefined;
    const probed = new Promise<void>((resolve) => (found = resolve));
    vm.whenProbed = () => probed;
    await vm.startVmService();
    const node = await vm.call(vmOps.nodes, {});
    expect(node).toMatchObject({ node: 'n1', driver: 'fake', accelerator: 'probing' });
    const { machineId, state } = await vm.start();
    expect(state).toBe('requested');
    found();
    await expect(vm.waitFor(machineId, 'ready')).resolves.toMatchObject({ accelerator: 'none' });
    await expect(vm.call(vmOps.nodes, {})).resolves.toMatchObject({ accelerator: 'none', liveMachines: 1 });
  });

  it('end with the service, on record and within its ten seconds, also those that are being started', async () => {
    const ready = await vm.boot();
    vm.driver.duringStart = () => new Promise(() => undefined);
    const starting = await vm.start();
    await vm.waitFor(starting.machineId, 'starting');
    const waiting = vm.call(vmOps.wait, { machineId: ready.machineId, states: ['ended'], waitMs: 55_000 });
    const machine = vm.driver.machine(ready.machineId);
    const stoppedAt = performance.now();
    await vm.stopVmService();
    expect(performance.now() - stoppedAt).toBeLessThan(9_500);
    expect(machine.hasEnded).toBe(true);
    await expect(waiting).resolves.toMatchObject({ state: 'ended', reason: 'host_killed' });
    await vm.startVmService();
    for (const { machineId } of [ready, starting]) {
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ended', verdict: { ended: true } });
    }
    expect(await readdir(vm.instancesRoot)).toEqual([]);
  });
});
