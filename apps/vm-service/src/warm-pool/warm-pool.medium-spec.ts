import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { dto } from '@inquest/contracts-base';
import { MakeTemplateRequest, vmOps, type MachineView } from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

const SIZE = 2;

describe('the warm pool on a real nats-server and Postgres', () => {
  let vm: VmServiceHarness;
  beforeAll(async () => {
    vm = await VmServiceHarness.start({ INQUEST_WARM_POOL: `tiny=${SIZE}` });
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);

  const waiting = async (): Promise<number> => (await vm.call(vmOps.nodes, {})).warmMachines;
  const instances = (): Promise<string[]> => readdir(vm.instancesRoot);

  /** A service whose pool has just been filled. */
  async function filled(): Promise<void> {
    await vm.call(vmOps.makeTemplate, dto(MakeTemplateRequest, { image: 'tiny', version: 1 }));
    // A pool that found no template looks again much later.
    await vm.stopVmService();
    await vm.startVmService();
    await eventually(async () => expect(await waiting()).toBe(SIZE));
  }

  it('makes nothing of an image that has no template', async () => {
    await rm(path.join(vm.home, 'templates'), { recursive: true, force: true });
    const machine = await vm.boot();
    expect(machine.origin).toBe('boot');
    expect(await waiting()).toBe(0);
    await vm.destroy(machine.machineId);
  });

  it('gives a ready machine at once, with the name and the owner of the request, and makes up for it', async () => {
    await filled();
    const claimed = await vm.start({ name: 'mine', owner: 'ses-1' });
    expect(claimed).toMatchObject({ state: 'ready', origin: 'clone', name: 'mine', owner: 'ses-1', incarnation: 1 });
    expect(claimed.readyAtMs).toBeGreaterThanOrEqual(claimed.createdAtMs);
    const { requests } = vm.driver.machine(claimed.machineId).guest.agent;
    expect(requests).toContainEqual(expect.objectContaining({ op: 'rebirth', hostname: 'mine' }));
    await expect(vm.exec(claimed.machineId, 'nothing')).rejects.toMatchObject({ code: 'EXEC_NOT_FOUND' });
    await eventually(async () => expect(await waiting()).toBe(SIZE));
    await vm.destroy(claimed.machineId);
    await expect(vm.verdict(claimed.machineId)).resolves.toMatchObject({ verdict: { class: 'host_killed' } });
  });

  it('gives no machine to two callers, and claims never exceed what waits', async () => {
    await filled();
    const machines = await Promise.all(Array.from({ length: 6 }, () => vm.start()));
    expect(new Set(machines.map(({ machineId }) => machineId)).size).toBe(6);
    const claimed = machines.filter(({ state }) => state === 'ready');
    expect(claimed.length).toBeGreaterThanOrEqual(SIZE);
    const ready = await Promise.all(machines.map(({ machineId }) => vm.waitFor(machineId, 'ready', 'ended')));
    expect(ready.map(({ state }) => state)).toEqual(machines.map(() => 'ready'));
    await eventually(async () => expect(await waiting()).toBe(SIZE));
    expect((await instances()).length).toBe(6 + SIZE);
    await Promise.all(machines.map(({ machineId }) => vm.destroy(machineId)));
  });

  it('gives the same request the same machine', async () => {
    await filled();
    const answers: MachineView[] = [];
    for (let time = 0; time < 3; time++) answers.push(await vm.start({ requestId: 'req-1' }));
    expect(new Set(answers.map(({ machineId }) => machineId)).size).toBe(1);
    const [{ machineId }] = answers as [MachineView];
    await vm.destroy(machineId);
  });

  it('leaves nothing of a claim whose name is taken', async () => {
    await filled();
    const holder = await vm.start({ name: 'taken' });
    await eventually(async () => expect(await waiting()).toBe(SIZE));
    await expect(vm.start({ name: 'taken' })).rejects.toMatchObject({ code: 'MACHINE_NAME_TAKEN' });
    await eventually(async () => expect(await waiting()).toBe(SIZE));
    expect((await instances()).length).toBe(1 + SIZE);
    await vm.destroy(holder.machineId);
  });

  it('has no machine of another shape, nor for one that has a way out', async () => {
    await filled();
    for (const wishes of [{ memoryMib: 256 }, { cpus: 2 }, { allowedHosts: ['example.org'] }]) {
      const machine = await vm.start(wishes);
      expect(machine.state).toBe('requested');
      await vm.destroy(machine.machineId);
    }
    expect(await waiting()).toBe(SIZE);
  });

  it('replaces a machine that dies in the pool, and leaves nothing of it', async () => {
    await filled();
    const [dying] = vm.driver.machines;
    await dying?.end('killed');
    await eventually(async () => {
      expect(await waiting()).toBe(SIZE);
      expect((await instances()).filter((name) => name.startsWith(dying?.machineId ?? ''))).toEqual([]);
    });
    expect((await instances()).length).toBe(SIZE);
  });

  it('ends the machines that nobody claimed when the service stops', async () => {
    await filled();
    await vm.stopVmService();
    await expect(instances()).resolves.toEqual([]);
    await vm.startVmService();
  });

  it('ends what waits on a version that is retired, and fills itself with nothing', async () => {
    await filled();
    vm.images.retire(1);
    await vm.images.rpc.gather(vmOps.removeTemplates, { image: 'tiny', version: 1 }, { windowMs: 10_000, expect: 1 });
    await expect(waiting()).resolves.toBe(0);
    await eventually(async () => expect(await instances()).toEqual([]));
    await expect(vm.start()).rejects.toMatchObject({ code: 'IMAGE_UNKNOWN' });
  });
});
