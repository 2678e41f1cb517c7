import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { dto } from '@inquest/contracts-base';
import { StartGroupRequest, StartMachineRequest, vmOps, type MachineView } from '@inquest/contracts-vm';
import { createFakeGuest } from '@inquest/guest-link/testing';
import { eventually } from '@inquest/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('a group of machines', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  beforeEach(() => {
    vm.driver.makeGuest = () => createFakeGuest();
  });

  async function startGroup(more: Partial<StartGroupRequest> = {}): Promise<MachineView[]> {
    const machine = dto(StartMachineRequest, { image: 'tiny' });
    return (await vm.call(vmOps.startGroup, dto(StartGroupRequest, { group: 'lab', machine, ...more }))).items;
  }
  const removed = async (machines: readonly MachineView[]): Promise<void> => {
    for (const { machineId } of machines) await vm.destroy(machineId);
  };

  it('is wired as a star of which every machine knows its own address', async () => {
    const machines = await startGroup({ count: 3 });
    expect(machines.map(({ name, peer }) => [name, peer])).toEqual([
      ['lab-1', { group: 'lab', index: 1, address: '10.190.239.1' }],
      ['lab-2', { group: 'lab', index: 2, address: '10.190.239.2' }],
      ['lab-3', { group: 'lab', index: 3, address: '10.190.239.3' }],
    ]);
    for (const { machineId } of machines) {
      await expect(vm.waitFor(machineId, 'ready', 'ended')).resolves.toMatchObject({ state: 'ready' });
    }
    const networks = machines.map(({ machineId }) => vm.driver.machine(machineId).spec.network);
    expect(networks.map((network) => network?.neighbours)).toEqual([[2, 3], [1], [1]]);
    expect(new Set(networks.map((network) => network?.directory)).size).toBe(1);
    const probes = vm.driver
      .machine(machines[0]?.machineId ?? '')
      .guest.agent.requests.filter(({ op }) => op === 'reach');
    expect(probes.map(({ address }) => address)).toEqual(['10.190.239.2', '10.190.239.3']);
    await removed(machines);
  });

  it('is made whole or not at all: one machine that does not reach its neighbour ends all', async () => {
    vm.driver.makeGuest = async () => {
      const guest = await createFakeGuest();
      guest.agent.unreachable.add('10.190.239.2');
      return guest;
    };
    const machines = await startGroup();
    const ends = await Promise.all(machines.map(({ machineId }) => vm.waitFor(machineId, 'ended')));
    expect(ends[0]?.message).toContain('10.190.239.2 does not answer');
    for (const { machineId } of machines) {
      await eventually(async () => (await vm.show(machineId)).isRemoved);
      expect(vm.driver.machine(machineId).hasEnded).toBe(true);
    }
  });

  it('keeps its wires over a reset of one of its machines, and does not wait for the others then', async () => {
    const machines = await startGroup();
    for (const { machineId } of machines) await vm.waitFor(machineId, 'ready');
    const [first = '', second = ''] = machines.map(({ machineId }) => machineId);
    const before = vm.driver.machine(second).spec.network;
    await vm.destroy(first);
    await vm.reset(second);
    await expect(vm.waitFor(second, 'ready', 'ended')).resolves.toMatchObject({ state: 'ready', incarnation: 2 });
    expect(vm.driver.machine(second).spec.network).toEqual(before);
    await removed(machines);
  });

  it('leaves no directory of its wires behind, neither with its last machine nor over a restart', async () => {
    const networks = path.join(vm.home, 'networks');
    const machines = await startGroup();
    for (const { machineId } of machines) await vm.waitFor(machineId, 'ready');
    const directory = vm.driver.machine(machines[0]?.machineId ?? '').spec.network?.directory ?? '';
    expect(path.dirname(directory)).toBe(networks);
    // As the driver of real machines does.
    await mkdir(directory, { recursive: true });
    await removed(machines);
    await expect(readdir(networks)).resolves.toEqual([]);
    await mkdir(path.join(networks, 'grp-left'));
    await vm.stopVmService();
    await vm.startVmService();
    await expect(readdir(networks).catch(() => [])).resolves.toEqual([]);
  });

  it('leaves no machine when one of them cannot be begun', async () => {
    const taken = await vm.boot({ name: 'lab-2' });
    await expect(startGroup()).rejects.toMatchObject({ code: 'MACHINE_NAME_TAKEN' });
    const { items } = await vm.call(vmOps.find, { machineId: 'lab-1' });
    expect(items[0]).toMatchObject({ state: 'ended', isRemoved: true });
    await vm.destroy(taken.machineId);
  });

  it.each([
    [
      'more memory than there is',
      { machine: dto(StartMachineRequest, { image: 'tiny', memoryMib: 500_000 }) },
      'NODE_EXHAUSTED',
    ],
    ['a name of one machine', { machine: dto(StartMachineRequest, { image: 'tiny', name: 'box' }) }, 'INPUT_INVALID'],
    ['one machine', { count: 1 }, 'INPUT_INVALID'],
    ['nine machines', { count: 9 }, 'INPUT_INVALID'],
    ['a name that is a path', { group: '../lab' }, 'INPUT_INVALID'],
  ])('is not begun for %s', async (_, request, code) => {
    const before = vm.driver.machines.length;
    await expect(startGroup(request)).rejects.toMatchObject({ code });
    expect(vm.driver.machines).toHaveLength(before);
  });
});
