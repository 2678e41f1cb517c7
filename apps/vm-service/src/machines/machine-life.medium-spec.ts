import { readdir, readFile, writeFile, chmod } from 'node:fs/promises';
import path from 'node:path';
import { vmEvents, vmOps } from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('the life of a machine', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  beforeEach(() => {
    vm.driver.duringStart = () => Promise.resolve();
  });

  /** The guest obeys: its init stops the system, and the machine powers off. */
  const powersOff = (machineId: string): void => {
    const machine = vm.driver.machine(machineId);
    machine.guest.agent.setBeat({ initStopping: true });
    machine.guest.agent.setBeat({ initStopping: true, rootReadonly: true });
    void eventually(async () => (await probesOf(machineId)).includes('"rootReadonly":true')).then(() =>
      machine.end('poweroff'),
    );
  };
  const probesOf = (machineId: string): Promise<string> => readFile(vm.evidenceFile(machineId, 'probes.jsonl'), 'utf8');
  const instances = (): Promise<string[]> => readdir(vm.instancesRoot);

  it('goes from requested over ready to ended, and its verdict is what its evidence says again', async () => {
    const requested = await vm.start({ owner: 'ses-1', name: 'box' });
    expect(requested).toMatchObject({ name: 'box', owner: 'ses-1', incarnation: 1, verdict: null, isRemoved: false });
    expect(requested.machineId).toMatch(/^n1-/);
    const { machineId } = requested;
    const ready = await vm.waitFor(machineId, 'ready');
    expect(ready).toMatchObject({ state: 'ready', reason: 'ready', accelerator: 'none' });
    expect(ready.readyAtMs).toBeGreaterThanOrEqual(ready.createdAtMs);
    expect(ready.lastSeenAtMs).not.toBeNull();

    vm.driver.machine(machineId).guest.agent.execs.results.set('echo hi', { stdout: 'hi\n', stderr: 'warned\n' });
    await expect(vm.exec(machineId, 'echo hi')).resolves.toMatchObject({
      exitCode: 0,
      stdout: { text: 'hi\n', totalBytes: 3, droppedBytes: 0, isLossy: false },
      stderr: { text: 'warned\n' },
    });

    powersOff(machineId);
    const ended = await vm.shutdown(machineId);
    expect(ended).toMatchObject({ state: 'ended', reason: 'clean_poweroff', verdict: { class: 'clean_poweroff' } });
    const bundle = new EvidenceBundle(path.dirname(vm.evidenceFile(machineId, 'meta.json')));
    expect(verdictView(await bundle.recompute())).toEqual(ended.verdict);
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ isProvisional: false, verdict: ended.verdict });
    const actions = await readFile(vm.evidenceFile(machineId, 'actions.jsonl'), 'utf8');
    expect(actions).toMatch(/"action":"start".*\n.*"action":"shutdown".*"by":"test"/);

    await expect(vm.destroy(machineId)).resolves.toMatchObject({
      killed: true,
      directoryRemoved: true,
      verdict: ended.verdict,
    });
    expect(await instances()).not.toContain(`${machineId}_1`);
    await expect(vm.show(machineId)).resolves.toMatchObject({
      state: 'ended',
      isRemoved: true,
      verdict: ended.verdict,
    });
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ verdict: { class: 'clean_poweroff' } });
  });

  it('is told to watchers, every state in its order', async () => {
    const { machineId } = await vm.boot();
    await vm.destroy(machineId);
    const states: string[] = [];
    const stop = AbortSignal.timeout(30_000);
    const events = vm.bus.subscribe(vmEvents.machineChanged, { ids: [machineId], signal: stop });
    for await (const { body } of events) {
      states.push(`${body.machine.state} ${body.machine.isRemoved}`);
      if (body.machine.isRemoved) break;
    }
    expect(states).toEqual([
      'requested false',
      'starting false',
      'ready false',
      'ending false',
      'ended false',
      'ended true',
    ]);
  });

  it('makes one machine of one request, however often it is sent', async () => {
    const request = { requestId: 'req-1', name: 'once' };
    const [first, second] = await Promise.all([vm.start(request), vm.start(request)]);
    await vm.waitFor(first.machineId, 'ready');
    const third = await vm.start({ ...request, memoryMib: 1_000_000 });
    expect([second.machineId, third.machineId]).toEqual([first.machineId, first.machineId]);
    expect(vm.driver.machines.filter(({ machineId }) => machineId === first.machineId)).toHaveLength(1);
    await vm.destroy(first.machineId);
  });

  it('refuses a name that a live machine has, and frees it with the end of that machine', async () => {
    const first = await vm.boot({ name: 'unique' });
    await expect(vm.start({ name: 'unique' })).rejects.toMatchObject({
      code: 'MACHINE_NAME_TAKEN',
      message: expect.stringContaining('unique'),
    });
    await vm.destroy(first.machineId);
    const second = await vm.boot({ name: 'unique' });
    await expect(vm.reset(first.machineId)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    await vm.destroy(second.machineId);
  });

  it('does not come back under a name that somebody else has got', async () => {
    const first = await vm.boot({ name: 'lent' });
    await vm.driver.machine(first.machineId).end('killed');
    await vm.waitFor(first.machineId, 'ended');
    const second = await vm.boot({ name: 'lent' });
    await expect(vm.reset(first.machineId)).rejects.toMatchObject({ code: 'MACHINE_NAME_TAKEN' });
    await expect(vm.show(first.machineId)).resolves.toMatchObject({ state: 'ended', incarnation: 1 });
    await vm.destroy(second.machineId);
  });

  it.each([
    [{ image: 'nope' }, 'IMAGE_UNKNOWN'],
    [{ image: '../../etc' }, 'INPUT_INVALID'],
    [{ image: 'tiny', memoryMib: 1_000_000 }, 'NODE_EXHAUSTED'],
    [{ image: 'tiny', memoryMib: 1 }, 'INPUT_INVALID'],
    [{ image: 'tiny', name: 'no/path' }, 'INPUT_INVALID'],
  ])('is not begun for %j', async (request, code) => {
    const before = await instances();
    await expect(vm.start(request)).rejects.toMatchObject({ code });
    expect(await instances()).toEqual(before);
  });

  it('is not begun on a file that is not the one that was frozen', async () => {
    const version = await vm.images.freeze();
    const disk = vm.images.fileOf(version, 'disk.raw');
    await chmod(disk, 0o644);
    await writeFile(disk, 'content of disk.raX');
    await chmod(disk, 0o444);
    await expect(vm.start({ version })).rejects.toMatchObject({
      code: 'IMAGE_CHANGED',
      message: expect.stringContaining('disk.raw'),
    });
    await expect(vm.start({ version: 1 })).resolves.toMatchObject({ version: 1 });
  });

  it('ends before it begins when the driver cannot start it, and leaves nothing', async () => {
    vm.driver.duringStart = () => Promise.reject(new Error('the disk is on fire'));
    const { machineId } = await vm.start();
    await expect(vm.waitFor(machineId, 'ended')).resolves.toMatchObject({
      state: 'ended',
      reason: 'start_failed',
      verdict: { ended: true },
    });
    expect(await instances()).not.toContain(`${machineId}_1`);
    await expect(vm.exec(machineId, 'true')).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
  });

  it('takes no verb and has no verdict before it runs', async () => {
    const held = new Promise<never>(() => undefined);
    vm.driver.duringStart = () => held;
    const { machineId } = await vm.start();
    await vm.waitFor(machineId, 'starting');
    await expect(vm.exec(machineId, 'true')).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    await expect(vm.shutdown(machineId)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    await expect(vm.verdict(machineId)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    await vm.destroy(machineId);
  });

  it('has the clock that it was given in every incarnation, and else that of the host', async () => {
    const rtcBaseMs = Date.UTC(2024, 1, 29, 12);
    const { machineId } = await vm.boot({ rtcBaseMs });
    expect(vm.driver.machine(machineId).spec.rtcBaseMs).toBe(rtcBaseMs);
    await expect(vm.reset(machineId)).resolves.toMatchObject({ incarnation: 2, rtcBaseMs });
    await vm.waitFor(machineId, 'ready');
    expect(vm.driver.machine(machineId).spec).toMatchObject({ incarnation: 2, rtcBaseMs });
    await vm.destroy(machineId);
    const plain = await vm.boot();
    expect(plain.rtcBaseMs).toBeNull();
    expect(vm.driver.machine(plain.machineId).spec.rtcBaseMs).toBeNull();
    await vm.destroy(plain.machineId);
    await expect(vm.start({ rtcBaseMs: -1 })).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  describe('a reset', () => {
    it('gives a new incarnation on a new overlay and refuses commands for the old one', async () => {
      const { machineId } = await vm.boot();
      const old = vm.driver.machine(machineId);
      const fresh = await vm.reset(machineId, 1);
      expect(fresh).toMatchObject({ machineId, incarnation: 2, verdict: null });
      expect(old.hasEnded).toBe(true);
      await vm.waitFor(machineId, 'ready');
      expect(vm.driver.machine(machineId)).not.toBe(old);
      expect(await instances()).toContain(`${machineId}_2`);
      expect(await instances()).not.toContain(`${machineId}_1`);
      await expect(vm.exec(machineId, 'true', { incarnation: 1 })).rejects.toMatchObject({
        code: 'MACHINE_INCARNATION_STALE',
      });
      await expect(vm.reset(machineId, 1)).rejects.toMatchObject({ code: 'MACHINE_INCARNATION_STALE' });
      expect(vm.driver.machine(machineId).hasEnded).toBe(false);
      await expect(vm.verdict(machineId, 1)).resolves.toMatchObject({
        incarnation: 1,
        isProvisional: false,
        verdict: { class: 'host_killed' },
      });
      await expect(vm.verdict(machineId, 3)).rejects.toMatchObject({ code: 'MACHINE_INCARNATION_STALE' });
      await vm.destroy(machineId);
    });

    it('does not touch a machine whose image was changed', async () => {
      const version = await vm.images.freeze();
      const { machineId } = await vm.boot({ version });
      await chmod(vm.images.fileOf(version, 'vmlinux'), 0o600);
      await expect(vm.reset(machineId)).rejects.toMatchObject({ code: 'IMAGE_CHANGED' });
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready', incarnation: 1 });
      await vm.destroy(machineId);
    });
  });

  describe('a destroy', () => {
    it('ends a machine that runs, observed, with a verdict that names who asked', async () => {
      const { machineId } = await vm.boot();
      await expect(vm.destroy(machineId)).resolves.toMatchObject({
        killed: true,
        signalled: true,
        directoryRemoved: true,
        verdict: { class: 'host_killed', account: expect.stringContaining('test') },
      });
      expect(vm.driver.machine(machineId).hasEnded).toBe(true);
      await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, signalled: false });
    });

    it('ends a start that is under way, and nothing of it is left', async () => {
      vm.driver.duringStart = () => new Promise(() => undefined);
      const { machineId } = await vm.start();
      await vm.waitFor(machineId, 'starting');
      await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, directoryRemoved: true });
      expect(await instances()).not.toContain(`${machineId}_1`);
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ended', isRemoved: true });
    });

    it('that comes with the start leaves no machine behind', async () => {
      const started = vm.start({ name: 'gone-at-once' });
      const machineId = await eventually(async () => {
        const { items } = await vm.call(vmOps.find, { machineId: 'gone-at-once' });
        if (items[0] === undefined) throw new Error('it cannot be seen yet');
        return items[0].machineId;
      });
      await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true, directoryRemoved: true });
      await started;
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ended', isRemoved: true });
      expect(await instances()).not.toContain(`${machineId}_1`);
    });

    it('does not wait for a guest that was asked to power off and does not', async () => {
      const { machineId } = await vm.boot();
      const asked = vm.shutdown(machineId, { waitMs: 55_000 });
      await vm.waitFor(machineId, 'ending');
      await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true });
      await expect(asked).resolves.toMatchObject({ state: 'ended', reason: 'host_killed' });
    });

    it('of a machine that nobody knows is refused', async () => {
      await expect(vm.destroy('n1-bcdfghjkmn')).rejects.toMatchObject({ code: 'MACHINE_UNKNOWN' });
      await expect(vm.destroy('..')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    });
  });

  describe('an end that nobody asked for', () => {
    it('changes the state within two seconds, and stays told when the guest speaks late', async () => {
      const { machineId } = await vm.boot();
      const machine = vm.driver.machine(machineId);
      const killedAt = performance.now();
      const killed = machine.end('killed');
      machine.guest.agent.setBeat({ initStopping: true });
      await killed;
      await eventually(async () => (await vm.show(machineId)).state !== 'ready');
      expect(performance.now() - killedAt).toBeLessThan(2_000);
      const ended = await vm.waitFor(machineId, 'ended');
      expect(ended.verdict).toMatchObject({ class: 'host_killed' });
      await expect(vm.destroy(machineId)).resolves.toMatchObject({ killed: true });
      await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ended' });
    });

    it.each([
      ['panic', 'panicked'],
      ['reset', 'guest_reset'],
      ['forcedPoweroff', 'forced_poweroff'],
    ] as const)('by %s is %s', async (ending, expected) => {
      const { machineId } = await vm.boot();
      await vm.driver.machine(machineId).end(ending);
      await expect(vm.waitFor(machineId, 'ended')).resolves.toMatchObject({ reason: expected });
      await vm.destroy(machineId);
    });
  });
});
