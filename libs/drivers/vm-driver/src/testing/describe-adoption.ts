import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import { supportsAdoption, type VmAdoption } from '../adopting-driver';
import type { VmSpec } from '../vm-specification';
import { readEvents, soon, waitUntilUp } from './suite-steps';
import type { VmDriverHarness } from './vm-driver-harness';

const adoptionOf = ({ machineId, incarnation, directory, listeners }: VmSpec): VmAdoption => ({
  machineId,
  incarnation,
  directory,
  listeners,
});

const readConsole = ({ evidenceDirectory }: VmSpec): Promise<string> =>
  readFile(path.join(evidenceDirectory, BUNDLE_FILES.serialHead), 'latin1');

/** Part of `describeVmDriver`: one test for each promise about machines of an earlier process, for drivers that take them over. */
export function describeAdoption(harnessOf: () => VmDriverHarness): void {
  it('takes over a machine of a process that died, with its evidence unbroken until its end', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsAdoption(driver) || harness.startElsewhere === undefined)
      return expect(driver.capabilities.adoption ?? false).toBe(false);
    const spec = harness.makeSpec({ incarnation: 2 });
    const elsewhere = await harness.startElsewhere(spec);
    const before = await readConsole(spec);
    await elsewhere.die();

    const machine = await driver.adopt(adoptionOf(spec), soon());
    expect(machine).toMatchObject({ machineId: spec.machineId, incarnation: 2, pid: elsewhere.pid });
    await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    await waitUntilUp(harness, machine);
    await expect(driver.adopt(adoptionOf(spec), soon())).rejects.toMatchObject({ code: 'VM_INSTANCE_EXISTS' });
    expect(await driver.reapOrphans(soon())).toEqual([]);

    await machine.pause(soon());
    await machine.resume(soon());
    await harness.end(machine, 'poweroff');
    await expect(machine.exited).resolves.toMatchObject(harness.poweroffExit ?? { code: 0, signal: null });
    const { raw, names } = await readEvents(spec);
    expect(new Set(raw).size).toBe(raw.length);
    expect(names.filter((name) => ['RESUME', 'STOP', 'SHUTDOWN'].includes(name))).toEqual([
      ...['RESUME', 'STOP', 'RESUME', 'SHUTDOWN'],
    ]);
    const console = await readConsole(spec);
    expect(console.startsWith(before)).toBe(true);
    expect(console.match(/Linux version/g)).toHaveLength(1);
    expect(console).toContain('reboot: Power down');
    expect(machine.recording).toMatchObject({ eventsLost: false, serialDroppedBytes: 0 });
    expect(machine.recording.serialTotalBytes).toBe(console.length);
    await driver.destroyInstance(spec.directory);
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it('completes the evidence of a machine that ended while nobody was there', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsAdoption(driver) || harness.startElsewhere === undefined)
      return expect(driver.capabilities.adoption ?? false).toBe(false);
    const spec = harness.makeSpec();
    const elsewhere = await harness.startElsewhere(spec);
    await elsewhere.endAfterDeath('poweroff');
    await expect(driver.adopt(adoptionOf(spec), soon())).rejects.toMatchObject({ code: 'VM_INSTANCE_UNADOPTABLE' });
    const [reaped] = await driver.reapOrphans(soon());
    const { machineId, directory } = spec;
    expect(reaped).toMatchObject({
      machineId,
      directory,
      pid: null,
      observedGone: true,
      exit: { code: 0, signal: null },
    });
    const { names } = await readEvents(spec);
    expect(names.filter((name) => name === 'SHUTDOWN')).toHaveLength(1);
    const console = await readConsole(spec);
    expect(console).toContain('reboot: Power down');
    expect(reaped?.recording).toEqual({ serialTotalBytes: console.length, serialDroppedBytes: 0, eventsLost: false });
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it('takes over nothing that is not what it is asked for, and changes nothing of it', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsAdoption(driver) || harness.startElsewhere === undefined)
      return expect(driver.capabilities.adoption ?? false).toBe(false);
    const spec = harness.makeSpec();
    const unadoptable = { code: 'VM_INSTANCE_UNADOPTABLE', fault: 'infra' };
    await expect(driver.adopt(adoptionOf(spec), soon())).rejects.toMatchObject(unadoptable);
    const elsewhere = await harness.startElsewhere(spec);
    await expect(driver.adopt(adoptionOf(spec), soon())).rejects.toMatchObject(unadoptable);
    await elsewhere.die();
    const another = { ...adoptionOf(spec), incarnation: 7 };
    await expect(driver.adopt(another, soon())).rejects.toMatchObject(unadoptable);
    const machine = await driver.adopt(adoptionOf(spec), soon());
    await waitUntilUp(harness, machine);
    await expect(machine.stop({ graceMs: 0 })).resolves.toMatchObject({ signal: 'SIGKILL' });
    await driver.destroyInstance(spec.directory);
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });
}
