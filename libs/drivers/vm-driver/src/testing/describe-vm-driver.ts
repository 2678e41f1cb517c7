import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FRAME_PORT } from '@inquest/frame-protocol';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import { instanceFile } from '../instance-files';
import { RECENT_MAX_BYTES } from '../recording/bounded-log';
import type { VmHandle } from '../vm-handle';
import type { VmSpec } from '../vm-specification';
import { describeAdoption } from './describe-adoption';
import { describeConnections } from './describe-connections';
import { describeCopies } from './describe-copies';
import { describeScreen } from './describe-screen';
import { describeSerialShell } from './describe-serial-shell';
import { readEvents, soon, waitUntilUp } from './suite-steps';
import type { HarnessEnding, VmDriverHarness } from './vm-driver-harness';

/** Declares the tests that every driver passes: one for each promise in the comments of the interface. */
export function describeVmDriver(name: string, make: () => Promise<VmDriverHarness>): void {
  describe(`VmDriver: ${name}`, () => {
    let harness: VmDriverHarness;
    beforeAll(async () => {
      harness = await make();
    });
    afterAll(async () => {
      await harness.dispose();
    });
    describeStart(() => harness);
    describeControl(() => harness);
    describeEvidence(() => harness);
    describeLink(() => harness);
    describeScreen(() => harness);
    describeSerialShell(() => harness);
    describeConnections(() => harness);
    describeCopies(() => harness);
    describeAdoption(() => harness);
    describeEnd(() => harness);
  });
}

/** An exit that nobody brought about. */
const ENDED_BY_ITSELF = { code: 0, signal: null };

const start = (harness: VmDriverHarness, spec: VmSpec): Promise<VmHandle> => harness.driver.start(spec, soon());

function describeStart(harnessOf: () => VmDriverHarness): void {
  it('gives a running machine with the identity that was asked for', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec({ incarnation: 3 });
    const machine = await start(harness, spec);
    expect(machine).toMatchObject({ machineId: spec.machineId, incarnation: 3 });
    expect(machine.pid).toBeGreaterThan(1);
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('refuses an invalid specification, names every wrong value, and leaves nothing', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec({ cpus: 0, hostname: 'not a name' });
    await expect(start(harness, spec)).rejects.toMatchObject({
      code: 'VM_SPEC_INVALID',
      fault: 'caller',
      message: expect.stringMatching(/cpus.*hostname/),
    });
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it('refuses a directory that exists and does not touch it', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const precious = path.join(spec.directory, 'precious');
    await mkdir(spec.directory, { recursive: true });
    await writeFile(precious, 'data');
    await expect(start(harness, spec)).rejects.toMatchObject({ code: 'VM_INSTANCE_EXISTS' });
    await expect(readFile(precious, 'utf8')).resolves.toBe('data');
    await harness.driver.destroyInstance(spec.directory);
  });

  it('lets one of two starts in the same directory win', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const outcomes = await Promise.allSettled([start(harness, spec), start(harness, spec)]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(failure?.reason).toMatchObject({ code: 'VM_INSTANCE_EXISTS' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('starts nothing when it is cancelled already', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const starting = harness.driver.start(spec, AbortSignal.abort());
    await expect(starting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it.each([1, 30, 90, 200])('leaves nothing when it is cancelled after about %d ms', async (afterMs) => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const outcome = await harness.driver.start(spec, AbortSignal.timeout(afterMs)).catch((e: unknown) => e);
    if (outcome instanceof Error) {
      expect(outcome).toMatchObject({ code: 'OPERATION_ABORTED' });
    } else {
      // It was faster: then the signal has no effect any more.
      await expect((outcome as VmHandle).status(soon())).resolves.toEqual({ status: 'running' });
      await harness.driver.destroyInstance(spec.directory);
    }
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });
}

function describeControl(harnessOf: () => VmDriverHarness): void {
  it('pauses and resumes, each as often as asked', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await machine.pause(soon());
    await machine.pause(soon());
    await expect(machine.status(soon())).resolves.toEqual({ status: 'paused' });
    await machine.resume(soon());
    await machine.resume(soon());
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('stops once for any number of concurrent stops, and again afterwards', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    const exits = await Promise.all([machine.stop({ graceMs: 0 }), machine.stop({ graceMs: 0 }), machine.exited]);
    exits.push(await machine.stop({ graceMs: 60_000 }));
    expect(exits[0]).toMatchObject({ code: null, signal: 'SIGKILL' });
    for (const exit of exits) expect(exit).toEqual(exits[0]);
    await harness.driver.destroyInstance(spec.directory);
  });

  it('waits for a machine that ends by itself within the grace, and does not kill it', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await waitUntilUp(harness, machine);
    const stopping = machine.stop({ graceMs: 60_000 });
    await harness.end(machine, 'poweroff');
    await expect(stopping).resolves.toMatchObject(harness.poweroffExit ?? ENDED_BY_ITSELF);
    await harness.driver.destroyInstance(spec.directory);
  });

  it('says that a dead machine is dead instead of failing or hanging', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await machine.stop({ graceMs: 0 });
    await expect(machine.status(soon())).resolves.toEqual({ status: null });
    await expect(machine.pause(soon())).rejects.toMatchObject({ code: 'VM_MACHINE_ENDED', fault: 'guest' });
    await expect(machine.resume(soon())).rejects.toMatchObject({ code: 'VM_MACHINE_ENDED' });
    await harness.driver.destroyInstance(spec.directory);
  });
}

function describeEvidence(harnessOf: () => VmDriverHarness): void {
  it('records from before the first instruction, and everything before the exit is told', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    const heard: string[] = [];
    machine.onEvent(() => {
      throw new Error('a listener that fails');
    });
    machine.onEvent((event) => heard.push(event.raw));
    await waitUntilUp(harness, machine);
    await machine.pause(soon());
    await machine.stop({ graceMs: 0 });
    const { raw, names } = await readEvents(spec);
    const serial = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.serialHead));
    if (harness.hasEvents === false) {
      expect([raw, heard]).toEqual([[], []]);
    } else {
      expect(names[0]).toBe('RESUME');
      expect(names).toContain('STOP');
      expect(raw.slice(raw.length - heard.length)).toEqual(heard);
      expect(heard.length).toBeGreaterThan(0);
    }
    expect(serial.toString('latin1')).toContain('Linux version');
    expect(machine.recording).toEqual({ serialTotalBytes: serial.length, serialDroppedBytes: 0, eventsLost: false });
    await harness.driver.destroyInstance(spec.directory);
    await expect(readEvents(spec)).resolves.toEqual({ raw, names });
  });

  it('gives the end of the console within the bound, also after the end', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await waitUntilUp(harness, machine);
    await machine.stop({ graceMs: 0 });
    expect(machine.consoleTail(10)).toHaveLength(10);
    expect(machine.consoleTail(Number.MAX_SAFE_INTEGER).length).toBeLessThanOrEqual(RECENT_MAX_BYTES);
    expect(machine.consoleTail(-1)).toHaveLength(0);
    await harness.driver.destroyInstance(spec.directory);
  });

  it.each<[HarnessEnding, { events: string[]; console: string; exit: object }]>([
    ['poweroff', { events: ['SHUTDOWN'], console: 'reboot: Power down', exit: ENDED_BY_ITSELF }],
    ['reset', { events: ['SHUTDOWN'], console: 'reboot: Restarting system', exit: ENDED_BY_ITSELF }],
    ['panic', { events: ['GUEST_PANICKED', 'SHUTDOWN'], console: 'Kernel panic - not syncing', exit: ENDED_BY_ITSELF }],
    ['killed', { events: [], console: '', exit: { code: null, signal: 'SIGKILL' } }],
  ])('leaves the evidence of a guest that ends by %s', async (ending, expected) => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await waitUntilUp(harness, machine);
    await harness.end(machine, ending);
    const exit = (ending === 'poweroff' && harness.poweroffExit) || expected.exit;
    await expect(machine.exited).resolves.toMatchObject(exit);
    const { names } = await readEvents(spec);
    const relevant = names.filter((event) => event === 'GUEST_PANICKED' || event === 'SHUTDOWN' || event === 'RESET');
    expect(relevant).toEqual(harness.hasEvents === false ? [] : expected.events);
    const serial = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.serialHead), 'latin1');
    expect(serial).toContain(expected.console);
    await harness.driver.destroyInstance(spec.directory);
  });
}

function describeLink(harnessOf: () => VmDriverHarness): void {
  it('stops waiting for the guest when the caller gives up', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    const connecting = machine.link.connect(FRAME_PORT, AbortSignal.abort());
    await expect(connecting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('closes the link before the exit is told', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    let isClosed = false;
    void machine.link.closed.then(() => (isClosed = true));
    await machine.stop({ graceMs: 0 });
    expect(isClosed).toBe(true);
    await expect(machine.link.connect(FRAME_PORT, soon())).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await harness.driver.destroyInstance(spec.directory);
  });
}

function describeEnd(harnessOf: () => VmDriverHarness): void {
  it('destroys a living machine, then finds that there is nothing left to destroy', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    const first = await harness.driver.destroyInstance(spec.directory);
    expect(first).toEqual({ killed: true, signalled: true, directoryRemoved: true });
    await expect(machine.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
    expect(await harness.leftovers(spec.directory)).toEqual([]);
    const second = await harness.driver.destroyInstance(spec.directory);
    expect(second).toEqual({ killed: true, signalled: false, directoryRemoved: true });
  });

  it('destroys a machine that is being started', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const starting = start(harness, spec).catch((e: unknown) => e);
    await harness.driver.destroyInstance(spec.directory);
    await starting;
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it('refuses to destroy anything that is not directly below its root', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    for (const directory of ['/', path.dirname(spec.directory), instanceFile(spec.directory, 'vmm'), 'relative']) {
      await expect(harness.driver.destroyInstance(directory)).rejects.toMatchObject({ code: 'VM_SPEC_INVALID' });
    }
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('spares its own machines when it reaps orphans', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    const machine = await start(harness, spec);
    await expect(harness.driver.reapOrphans(soon())).resolves.toEqual([]);
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('reaps what an earlier service left and names it', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec({ incarnation: 2 });
    const orphan = await start(harness, spec);
    const reaped = await harness.laterDriver().reapOrphans(soon());
    const { machineId, directory } = spec;
    const found = { machineId, incarnation: 2, directory, pid: orphan.pid, observedGone: true };
    expect(reaped).toContainEqual(expect.objectContaining(found));
    expect(await harness.leftovers(spec.directory)).toEqual([]);
    await harness.driver.destroyInstance(spec.directory);
  });

  it('lets a directory be used again once its instance was destroyed', async () => {
    const harness = harnessOf();
    const spec = harness.makeSpec();
    await start(harness, spec);
    await harness.driver.destroyInstance(spec.directory);
    const machine = await start(harness, { ...spec, incarnation: 2 });
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await harness.driver.destroyInstance(spec.directory);
  });
}
