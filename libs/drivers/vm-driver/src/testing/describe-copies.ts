import path from 'node:path';
import { copySpecOf, supportsCopies } from '../capabilities';
import { readEvents, soon, waitUntilUp } from './suite-steps';
import type { VmDriverHarness } from './vm-driver-harness';

/** Part of `describeVmDriver`: one test for each promise about copies of running machines, for drivers that make them. */
export function describeCopies(harnessOf: () => VmDriverHarness): void {
  it('copies a machine while it runs: the copy is itself, and the source goes on', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsCopies(driver)) return expect(driver.capabilities.copies ?? false).toBe(false);
    const sourceSpec = harness.makeSpec({ hostname: 'source' });
    const source = await driver.start(sourceSpec, soon());
    const name = await waitUntilUp(harness, source);
    const copies = [harness.makeSpec({ hostname: 'first' }), harness.makeSpec({ hostname: 'second' })];
    for (const spec of copies) {
      const copy = await driver.copy(source, copySpecOf(spec), soon());
      await expect(waitUntilUp(harness, copy)).resolves.toBe(spec.hostname);
      expect(copy).toMatchObject({ machineId: spec.machineId, incarnation: spec.incarnation });
    }
    await expect(source.status(soon())).resolves.toEqual({ status: 'running' });
    await expect(waitUntilUp(harness, source)).resolves.toBe(name);
    const { names } = await readEvents(sourceSpec);
    expect(names.filter((name) => name === 'STOP' || name === 'RESUME')).toEqual([
      ...['RESUME', 'STOP', 'RESUME', 'STOP', 'RESUME'],
    ]);
    for (const { directory } of [...copies, sourceSpec]) await driver.destroyInstance(directory);
  });

  it('lets the source go on when the copy is given up, at whatever moment, and leaves nothing of the copy', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsCopies(driver)) return expect(driver.capabilities.copies ?? false).toBe(false);
    const sourceSpec = harness.makeSpec();
    const source = await driver.start(sourceSpec, soon());
    await waitUntilUp(harness, source);
    for (const afterMs of [0, 30, 120, 300]) {
      const spec = harness.makeSpec();
      const signal = AbortSignal.timeout(afterMs);
      const outcome: unknown = await driver.copy(source, copySpecOf(spec), signal).catch((e: unknown) => e);
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'OPERATION_ABORTED' });
      else await driver.destroyInstance(spec.directory);
      expect(await harness.leftovers(spec.directory)).toEqual([]);
      await expect(source.status(soon())).resolves.toEqual({ status: 'running' });
    }
    await waitUntilUp(harness, source);
    await driver.destroyInstance(sourceSpec.directory);
  });

  it('makes no copy of a machine that is tied to others or has ended, and leaves nothing of it', async () => {
    const harness = harnessOf();
    const { driver } = harness;
    if (!supportsCopies(driver)) return expect(driver.capabilities.copies ?? false).toBe(false);
    const spec = harness.makeSpec();
    const network = {
      directory: path.join(path.dirname(path.dirname(spec.directory)), 'net-of-copies'),
      index: 1,
      neighbours: [2],
    };
    const tied = await driver.start({ ...spec, network }, soon());
    const copySpec = harness.makeSpec();
    const refusal = { code: 'VM_MACHINE_UNCAPTURABLE' };
    await expect(driver.copy(tied, copySpecOf(copySpec), soon())).rejects.toMatchObject(refusal);
    await expect(tied.status(soon())).resolves.toEqual({ status: 'running' });
    await tied.stop({ graceMs: 0 });
    await expect(driver.copy(tied, copySpecOf(copySpec), soon())).rejects.toMatchObject(refusal);
    expect(await harness.leftovers(copySpec.directory)).toEqual([]);
    await driver.destroyInstance(spec.directory);
  });
}
