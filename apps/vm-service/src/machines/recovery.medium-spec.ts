import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DataSource } from 'typeorm';
import type { MachineState } from '@inquest/contracts-vm';
import { instanceFile } from '@inquest/vm-driver';
import { VmServiceHarness } from '../testing/vm-service-harness';
import { MachineEntity } from './machine.entity';

/** No process can have it: one above the largest pid of Linux. */
const DEAD_PID = 4_194_305;

describe('the start of vm-service after a crash', () => {
  let vm: VmServiceHarness;
  /** A machine that ended long ago; the rows of the others are copies of its row. */
  let sampleId: string;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
    ({ machineId: sampleId } = await vm.boot());
    await vm.destroy(sampleId);
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);

  /** What a killed vm-service leaves of a machine in that state. */
  const leave = async (state: MachineState, number: number, database: DataSource): Promise<string> => {
    const machineId = `n1-bcdfghjkm${number}`;
    const rows = database.getRepository(MachineEntity);
    const sample = await rows.findOneByOrFail({ machineId: sampleId });
    const fresh = { state, verdict: null, isRemoved: false, endedAt: null, readyAt: null, createdAt: new Date() };
    await rows.insert({ ...sample, machineId, name: `left-${number}`, ...fresh });
    if (state === 'requested') return machineId;
    const directory = path.join(vm.instancesRoot, `${machineId}_1`);
    await mkdir(directory, { recursive: true });
    await writeFile(instanceFile(directory, 'record'), JSON.stringify({ machineId, incarnation: 1, pid: DEAD_PID }));
    return machineId;
  };

  it('ends every machine that was left, in whatever state, with the reaping on record before it', async () => {
    const states: MachineState[] = ['requested', 'starting', 'ready', 'paused', 'ending'];
    const left = await Promise.all(states.map((state, number) => leave(state, number + 2, vm.database)));
    await mkdir(path.join(vm.instancesRoot, 'n1-without-row_1'));
    await vm.stopVmService();
    await vm.startVmService();
    for (const machineId of left) {
      const machine = await vm.show(machineId);
      expect(machine).toMatchObject({ state: 'ended', verdict: { ended: true } });
      expect(machine.endedAtMs).not.toBeNull();
      const actions = await readFile(vm.evidenceFile(machineId, 'actions.jsonl'), 'utf8');
      expect(actions).toContain('"action":"reap"');
      await expect(vm.verdict(machineId)).resolves.toMatchObject({ isProvisional: false, verdict: machine.verdict });
    }
    expect(await readdir(vm.instancesRoot)).toEqual([]);
    await expect(vm.show(left[2] ?? '')).resolves.toMatchObject({
      reason: 'host_killed',
      verdict: { account: expect.stringContaining('vm-service'), confidence: expect.not.stringMatching('certain') },
    });
  });

  it('leaves what had ended as it was, and its name can be used again', async () => {
    const before = await vm.show('n1-bcdfghjkm4');
    await vm.stopVmService();
    await vm.startVmService();
    await expect(vm.show('n1-bcdfghjkm4')).resolves.toEqual(before);
    const again = await vm.boot({ name: 'left-4' });
    expect(again.state).toBe('ready');
    await expect(vm.destroy('n1-bcdfghjkm4')).resolves.toMatchObject({ killed: true, signalled: false });
    await expect(vm.show(again.machineId)).resolves.toMatchObject({ state: 'ready' });
  });
});
