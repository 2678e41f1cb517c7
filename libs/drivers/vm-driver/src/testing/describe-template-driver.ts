import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import { RECENT_MAX_BYTES } from '../recording/bounded-log';
import { cloneSpecOf, type VmCloneSpec, type VmTemplate } from '../template-driver';
import type { VmHandle } from '../vm-handle';
import type { VmSpec } from '../vm-specification';
import { readEvents, soon, waitUntilUp } from './suite-steps';
import type { HarnessEnding, TemplateDriverHarness } from './vm-driver-harness';

/** One template that most tests clone, and the machine that it was made of. */
interface Suite {
  readonly harness: TemplateDriverHarness;
  readonly source: VmHandle;
  readonly sourceSpec: VmSpec;
  readonly template: VmTemplate;
}

/** Declares the tests that every driver with templates passes: one for each promise of `TemplateDriver`. */
export function describeTemplateDriver(name: string, make: () => Promise<TemplateDriverHarness>): void {
  describe(`TemplateDriver: ${name}`, () => {
    let suite: Suite;
    beforeAll(async () => {
      const harness = await make();
      const sourceSpec = harness.makeSpec({ isCapturable: true });
      const source = await harness.driver.start(sourceSpec, soon());
      await waitUntilUp(harness, source);
      const template = await harness.driver.captureTemplate(source, harness.makeTemplatePath(), soon());
      suite = { harness, source, sourceSpec, template };
    });
    afterAll(async () => {
      await suite.harness.dispose();
    });
    describeCapture(() => suite);
    describeOpen(() => suite);
    describeClone(() => suite);
    describeCloneEnd(() => suite);
  });
}

const makeCloneSpec = ({ harness, template }: Suite, overrides: Partial<VmSpec> = {}): VmCloneSpec =>
  cloneSpecOf(harness.makeSpec(overrides), template);

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

function describeCapture(suiteOf: () => Suite): void {
  it('ends the machine that became a template, and keeps its shape', async () => {
    const { harness, source, sourceSpec, template } = suiteOf();
    expect(template).toEqual({
      directory: template.directory,
      cpus: sourceSpec.cpus,
      memoryMib: sourceSpec.memoryMib,
      hasScreen: false,
    });
    await expect(source.exited).resolves.toMatchObject({ code: 0, signal: null });
    await harness.driver.destroyInstance(sourceSpec.directory);
    expect(await harness.leftovers(sourceSpec.directory)).toEqual([]);
  });

  it('refuses a machine that was not started to become one, and leaves it running', async () => {
    const suite = suiteOf();
    const { harness } = suite;
    const spec = makeCloneSpec(suite);
    const machine = await harness.driver.clone(spec, soon());
    const directory = harness.makeTemplatePath();
    const capturing = harness.driver.captureTemplate(machine, directory, soon());
    await expect(capturing).rejects.toMatchObject({ code: 'VM_MACHINE_UNCAPTURABLE', fault: 'caller' });
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await expect(exists(directory)).resolves.toBe(false);
    await harness.driver.destroyInstance(spec.directory);
  });

  it('refuses a machine that has ended', async () => {
    const { harness, source } = suiteOf();
    const directory = harness.makeTemplatePath();
    const capturing = harness.driver.captureTemplate(source, directory, soon());
    await expect(capturing).rejects.toMatchObject({ code: 'VM_MACHINE_UNCAPTURABLE' });
    await expect(exists(directory)).resolves.toBe(false);
  });

  it('refuses a directory that exists, and touches neither it nor the machine', async () => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const spec = makeCloneSpec(suite, { isCapturable: true });
    const machine = await driver.clone(spec, soon());
    const directory = suite.harness.makeTemplatePath();
    await mkdir(directory);
    await writeFile(path.join(directory, 'precious'), 'data');
    const capturing = driver.captureTemplate(machine, directory, soon());
    await expect(capturing).rejects.toMatchObject({ code: 'VM_TEMPLATE_EXISTS' });
    await expect(readdir(directory)).resolves.toEqual(['precious']);
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await driver.destroyInstance(spec.directory);
  });

  it('leaves no template when it is cancelled already', async () => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const spec = makeCloneSpec(suite, { isCapturable: true });
    const machine = await driver.clone(spec, soon());
    const directory = suite.harness.makeTemplatePath();
    const capturing = driver.captureTemplate(machine, directory, AbortSignal.abort());
    await expect(capturing).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await expect(exists(directory)).resolves.toBe(false);
    await driver.destroyInstance(spec.directory);
  });

  it('makes a template of a clone, from which machines start while the first template lives on', async () => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const parentSpec = makeCloneSpec(suite, { isCapturable: true });
    const parent = await driver.clone(parentSpec, soon());
    const template = await driver.captureTemplate(parent, suite.harness.makeTemplatePath(), soon());
    await driver.destroyInstance(parentSpec.directory);
    for (const origin of [template, suite.template]) {
      const spec = { ...makeCloneSpec(suite, { hostname: 'grandchild' }), template: origin };
      const machine = await driver.clone(spec, soon());
      await expect(waitUntilUp(suite.harness, machine)).resolves.toBe('grandchild');
      await driver.destroyInstance(spec.directory);
    }
  });
}

function describeOpen(suiteOf: () => Suite): void {
  it('opens a template that an earlier process made', async () => {
    const { harness, template } = suiteOf();
    await expect(harness.laterDriver().openTemplate(template.directory, soon())).resolves.toEqual(template);
  });

  it('refuses what is no template', async () => {
    const { harness } = suiteOf();
    const missing = harness.makeTemplatePath();
    const empty = harness.makeTemplatePath();
    await mkdir(empty);
    for (const directory of [missing, empty]) {
      const opening = harness.driver.openTemplate(directory, soon());
      await expect(opening).rejects.toMatchObject({ code: 'VM_TEMPLATE_UNFIT', details: { flaw: 'incomplete' } });
    }
    await expect(exists(missing)).resolves.toBe(false);
  });

  it('starts nothing from a template that was changed', async () => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const sourceSpec = makeCloneSpec(suite, { isCapturable: true });
    const source = await driver.clone(sourceSpec, soon());
    const template = await driver.captureTemplate(source, suite.harness.makeTemplatePath(), soon());
    await driver.destroyInstance(sourceSpec.directory);
    await suite.harness.damageTemplate(template.directory);
    await expect(driver.openTemplate(template.directory, soon())).rejects.toMatchObject({
      code: 'VM_TEMPLATE_UNFIT',
      details: { flaw: 'damaged' },
    });
    const spec = { ...makeCloneSpec(suite), template };
    await expect(driver.clone(spec, soon())).rejects.toMatchObject({ code: 'VM_TEMPLATE_UNFIT' });
    expect(await suite.harness.leftovers(spec.directory)).toEqual([]);
  });
}

function describeClone(suiteOf: () => Suite): void {
  it('gives a running machine with the identity that was asked for', async () => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite, { incarnation: 3, hostname: 'its-own-name' });
    const machine = await suite.harness.driver.clone(spec, soon());
    expect(machine).toMatchObject({ machineId: spec.machineId, incarnation: 3 });
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await expect(waitUntilUp(suite.harness, machine)).resolves.toBe('its-own-name');
    await suite.harness.driver.destroyInstance(spec.directory);
  });

  it('runs clones of one template side by side', async () => {
    const suite = suiteOf();
    const specs = ['a', 'b', 'c'].map((hostname) => makeCloneSpec(suite, { hostname }));
    const machines = await Promise.all(specs.map((spec) => suite.harness.driver.clone(spec, soon())));
    const hostnames = await Promise.all(machines.map((machine) => waitUntilUp(suite.harness, machine)));
    expect(hostnames).toEqual(['a', 'b', 'c']);
    expect(new Set(machines.map(({ pid }) => pid)).size).toBe(3);
    await Promise.all(specs.map(({ directory }) => suite.harness.driver.destroyInstance(directory)));
  });

  it('refuses an invalid specification, names every wrong value, and leaves nothing', async () => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite, { incarnation: 0, hostname: 'not a name' });
    await expect(suite.harness.driver.clone(spec, soon())).rejects.toMatchObject({
      code: 'VM_SPEC_INVALID',
      message: expect.stringMatching(/incarnation.*hostname/),
    });
    expect(await suite.harness.leftovers(spec.directory)).toEqual([]);
  });

  it('refuses a directory that exists and does not touch it', async () => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite);
    await mkdir(path.join(spec.directory, 'precious'), { recursive: true });
    await expect(suite.harness.driver.clone(spec, soon())).rejects.toMatchObject({ code: 'VM_INSTANCE_EXISTS' });
    await expect(readdir(spec.directory)).resolves.toEqual(['precious']);
    await suite.harness.driver.destroyInstance(spec.directory);
  });

  it.each([0, 1, 30, 90, 200])('leaves nothing when it is cancelled after about %d ms', async (afterMs) => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const spec = makeCloneSpec(suite);
    const signal = afterMs === 0 ? AbortSignal.abort() : AbortSignal.timeout(afterMs);
    const outcome = await driver.clone(spec, signal).catch((e: unknown) => e);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'OPERATION_ABORTED' });
    else await driver.destroyInstance(spec.directory);
    expect(await suite.harness.leftovers(spec.directory)).toEqual([]);
  });
}

function describeCloneEnd(suiteOf: () => Suite): void {
  it('records from before the clone runs, and no kernel starts in it', async () => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite);
    const machine = await suite.harness.driver.clone(spec, soon());
    await machine.pause(soon());
    await machine.stop({ graceMs: 0 });
    const { names } = await readEvents(spec);
    expect(names.filter((name) => name === 'RESUME' || name === 'STOP')).toEqual(['RESUME', 'STOP']);
    const serial = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.serialHead), 'latin1');
    expect(serial).not.toContain('Linux version');
    expect(machine.recording).toEqual({ serialTotalBytes: serial.length, serialDroppedBytes: 0, eventsLost: false });
    expect(machine.consoleTail(RECENT_MAX_BYTES)).toHaveLength(serial.length);
    await suite.harness.driver.destroyInstance(spec.directory);
  });

  it.each<[HarnessEnding, object, string]>([
    ['poweroff', { code: 0, signal: null }, 'reboot: Power down'],
    ['reset', { code: 0, signal: null }, 'reboot: Restarting system'],
    ['panic', { code: 0, signal: null }, 'Kernel panic - not syncing'],
    ['killed', { code: null, signal: 'SIGKILL' }, ''],
  ])('leaves the evidence of a clone that ends by %s', async (ending, exit, console) => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite);
    const machine = await suite.harness.driver.clone(spec, soon());
    await suite.harness.end(machine, ending);
    await expect(machine.exited).resolves.toMatchObject(exit);
    const serial = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.serialHead), 'latin1');
    expect(serial).toContain(console);
    await suite.harness.driver.destroyInstance(spec.directory);
  });

  it('destroys a clone and leaves its template to the others', async () => {
    const suite = suiteOf();
    const { driver } = suite.harness;
    const [first, second] = [makeCloneSpec(suite), makeCloneSpec(suite)];
    await driver.clone(first, soon());
    const destroyed = await driver.destroyInstance(first.directory);
    expect(destroyed).toEqual({ killed: true, signalled: true, directoryRemoved: true });
    expect(await suite.harness.leftovers(first.directory)).toEqual([]);
    const machine = await driver.clone(second, soon());
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await driver.destroyInstance(second.directory);
  });

  it('reaps a clone that an earlier service left and names it', async () => {
    const suite = suiteOf();
    const spec = makeCloneSpec(suite, { incarnation: 2 });
    const orphan = await suite.harness.driver.clone(spec, soon());
    const { machineId, directory } = spec;
    const reaped = await suite.harness.laterDriver().reapOrphans(soon());
    const found = { machineId, incarnation: 2, directory, pid: orphan.pid, observedGone: true };
    expect(reaped).toContainEqual(expect.objectContaining(found));
    expect(await suite.harness.leftovers(directory)).toEqual([]);
    await suite.harness.driver.destroyInstance(directory);
  });
}
