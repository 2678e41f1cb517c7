import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DataSource } from 'typeorm';
import type { MachineState } from '@inquest/contracts-vm';
import type { MachineId } from '@inquest/kernel';
import { instanceFile } from '@inquest/vm-driver';
import { eventually } from '@inquest/testing';
import { FakeVmDriver, sampleVmSpec, type FakeMachine } from '@inquest/vm-driver/testing';
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

  /** The row of a machine in that state. */
  const leaveRow = async (state: MachineState, number: number, database: DataSource): Promise<string> => {
    const machineId = `n1-bcdfghjkm${number}`;
    const rows = database.getRepository(MachineEntity);
    const sample = await rows.findOneByOrFail({ machineId: sampleId });
    const fresh = { state, verdict: null, isRemoved: false, endedAt: null, readyAt: null, createdAt: new Date() };
    await rows.insert({ ...sample, machineId, name: `left-${number}`, ...fresh });
    return machineId;
  };

  /** What a killed vm-service leaves of a machine in that state whose process is dead, too. */
  const leave = async (state: MachineState, number: number, database: DataSource): Promise<string> => {
    const machineId = await leaveRow(state, number, database);
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

  describe('finds machines that ran on', () => {
    /** A machine of an earlier vm-service, which is dead, in that state. */
    const leaveRunning = async (state: MachineState, number: number): Promise<FakeMachine> => {
      const machineId = `n1-bcdfghjkm${number}` as MachineId;
      const directory = path.join(vm.instancesRoot, `${machineId}_1`);
      const evidenceDirectory = path.dirname(vm.evidenceFile(machineId, 'any'));
      await leaveRow(state, number, vm.database);
      const earlier = new FakeVmDriver({ instancesRoot: vm.instancesRoot });
      const place = { machineId, incarnation: 1, directory, evidenceDirectory };
      await earlier.start(sampleVmSpec(vm.home, place), AbortSignal.timeout(30_000));
      return earlier.abandon(directory);
    };
    const restart = async (): Promise<void> => {
      await vm.stopVmService();
      await vm.startVmService();
    };

    it.each<[MachineState, number]>([
      ['ready', 21],
      ['paused', 22],
      ['ending', 23],
    ])('takes over one that was %s: it obeys until its end, and its evidence is whole', async (state, number) => {
      const { machineId, guest } = await leaveRunning(state, number);
      await restart();
      await expect(vm.show(machineId)).resolves.toMatchObject({ incarnation: 1, endedAtMs: null });
      guest.agent.execs.results.set('echo here', { stdout: 'here\n' });
      await expect(vm.exec(machineId, 'echo here')).resolves.toMatchObject({ exitCode: 0 });
      guest.agent.setBeat({ initStopping: true });
      await vm.waitFor(machineId, 'ending');
      await vm.driver.machine(machineId).end('poweroff');
      await expect(vm.waitFor(machineId, 'ended')).resolves.toMatchObject({
        verdict: { class: 'clean_poweroff', confidence: 'certain' },
      });
      const actions = await readFile(vm.evidenceFile(machineId, 'actions.jsonl'), 'utf8').catch(() => '');
      expect(actions).not.toContain('"action":"reap"');
      await vm.destroy(machineId);
    });

    it('and takes over what the one before was told to keep when it stopped', async () => {
      await vm.stopVmService();
      await vm.startVmService({ INQUEST_MACHINES_AT_STOP: 'keep' });
      const { machineId } = await vm.boot({ name: 'kept' });
      const { driver } = vm;
      const { spec, guest } = driver.machine(machineId);
      guest.agent.execs.results.set('sleep 1000', { hangs: true });
      const cut = vm.exec(machineId, 'sleep 1000').catch((e: unknown) => e);
      await eventually(() => guest.agent.execs.runningCount === 1);
      await vm.stopVmService();
      expect(await cut).toBeInstanceOf(Error);
      // As the end of its process does.
      await driver.abandon(spec.directory);
      await vm.startVmService();
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready', incarnation: 1 });
      const probes = await readFile(vm.evidenceFile(machineId, 'probes.jsonl'), 'utf8');
      expect(probes).not.toContain('"kind":"link"');
      await vm.driver.machine(machineId).end('reset');
      await expect(vm.waitFor(machineId, 'ended')).resolves.toMatchObject({ verdict: { class: 'guest_reset' } });
    });

    it('and judges one that ended meanwhile by what its monitor has recorded itself', async () => {
      const machine = await leaveRunning('ready', 31);
      await machine.end('panic');
      await restart();
      const { machineId } = machine;
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ended', verdict: { class: 'panicked' } });
      const meta = await readFile(vm.evidenceFile(machineId, 'meta.json'), 'utf8');
      expect(JSON.parse(meta)).toMatchObject({ exit: { code: 0 }, recorder: { lost: false } });
    });

    it('and ends one that was being started', async () => {
      const machine = await leaveRunning('starting', 32);
      await restart();
      expect(machine.hasEnded).toBe(true);
      await expect(vm.show(machine.machineId)).resolves.toMatchObject({
        state: 'ended',
        verdict: { class: 'host_killed', account: expect.stringContaining('vm-service') },
      });
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
