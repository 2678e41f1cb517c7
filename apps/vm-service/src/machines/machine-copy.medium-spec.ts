import { chmod, mkdir, readFile } from 'node:fs/promises';
import { dto } from '@inquest/contracts-base';
import {
  CloneMachineRequest,
  StartGroupRequest,
  StartMachineRequest,
  vmOps,
  type MachineView,
} from '@inquest/contracts-vm';
import { tempDir } from '@inquest/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('a copy of a running machine', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);

  const clone = (machineId: string, more: Partial<CloneMachineRequest> = {}): Promise<MachineView> =>
    vm.call(vmOps.cloneMachine, dto(CloneMachineRequest, { machineId, by: 'test', ...more }));

  it('is what its source is, under an id and a name of its own, and the source runs on', async () => {
    const source = await vm.boot({ name: 'box', screen: true, memoryMib: 200, owner: 'ses-1' });
    const requested = await clone(source.machineId, { name: 'twin' });
    expect(requested).toMatchObject({ name: 'twin', reason: 'cloned', owner: null });
    const copy = await vm.waitFor(requested.machineId, 'ready', 'ended');
    expect(copy).toMatchObject({ state: 'ready', origin: 'clone', memoryMib: 200, hasScreen: true, image: 'tiny' });
    expect(copy.machineId).not.toBe(source.machineId);
    expect(vm.driver.machine(copy.machineId).guest.agent.requests[0]).toMatchObject({
      op: 'rebirth',
      hostname: 'twin',
    });
    await expect(vm.show(source.machineId)).resolves.toMatchObject({ state: 'ready', incarnation: 1 });
    const actions = await readFile(vm.evidenceFile(source.machineId, 'actions.jsonl'), 'utf8');
    expect(actions).toContain(copy.machineId);
    await vm.reset(copy.machineId);
    await expect(vm.waitFor(copy.machineId, 'ready')).resolves.toMatchObject({ origin: 'boot', incarnation: 2 });
    for (const { machineId } of [copy, source]) await vm.destroy(machineId);
  });

  it('is refused for a machine that does not run, is in another incarnation, or has a name that is taken', async () => {
    const { machineId } = await vm.boot({ name: 'only' });
    await expect(clone(machineId, { name: 'only' })).rejects.toMatchObject({ code: 'MACHINE_NAME_TAKEN' });
    await expect(clone(machineId, { incarnation: 2 })).rejects.toMatchObject({ code: 'MACHINE_INCARNATION_STALE' });
    await vm.driver.machine(machineId).end('killed');
    await vm.waitFor(machineId, 'ended');
    await expect(clone(machineId)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    expect(vm.driver.machines).toHaveLength(vm.driver.machines.filter((machine) => machine.hasEnded).length);
    await vm.destroy(machineId);
  });

  it('is refused for a machine that has to be the only one, with the reason, and that machine runs on', async () => {
    const root = await tempDir('copies');
    const docs = `${root.path}/docs`;
    await mkdir(docs);
    await chmod(docs, 0o755);
    const reader = await vm.boot({ shares: [{ directory: docs, guestPath: '/mnt/docs' }] });
    const machine = dto(StartMachineRequest, { image: 'tiny' });
    const { items } = await vm.call(vmOps.startGroup, dto(StartGroupRequest, { group: 'lab', machine }));
    const [peer] = items;
    await vm.waitFor(peer?.machineId ?? '', 'ready');
    await expect(clone(reader.machineId)).rejects.toMatchObject({
      code: 'MACHINE_UNCLONABLE',
      message: expect.stringContaining('directories of the host'),
    });
    await expect(clone(peer?.machineId ?? '')).rejects.toMatchObject({
      code: 'MACHINE_UNCLONABLE',
      message: expect.stringContaining('group lab'),
    });
    await expect(vm.show(reader.machineId)).resolves.toMatchObject({ state: 'ready' });
    for (const { machineId } of [reader, ...items]) await vm.destroy(machineId);
    await root.remove();
  });
});
