import { requireInput, requireScreenshots, supportsInput, supportsScreenshots } from '../capabilities';
import { pngSize } from '../screen/png-size';
import type { VmSpec } from '../vm-specification';
import { soon } from './suite-steps';
import type { VmDriverHarness } from './vm-driver-harness';

/** Part of `describeVmDriver`: one test for each promise about displays and input. */
export function describeScreen(harnessOf: () => VmDriverHarness): void {
  const startWith = async (overrides: Partial<VmSpec>) => {
    const { driver, makeSpec } = harnessOf();
    const spec = makeSpec.call(harnessOf(), overrides);
    return { driver, spec, machine: await driver.start(spec, soon()) };
  };

  it('gives a machine no screen that did not ask for one, and says so instead of failing later', async () => {
    const { driver, spec, machine } = await startWith({});
    expect(machine.capabilities).toMatchObject({ screenshot: false, input: false });
    expect(() => requireScreenshots(machine)).toThrow(expect.objectContaining({ code: 'VM_CAPABILITY_MISSING' }));
    expect(() => requireInput(machine)).toThrow(expect.objectContaining({ code: 'VM_CAPABILITY_MISSING' }));
    await driver.destroyInstance(spec.directory);
  });

  it('gives a machine that asks for a screen what the driver says it can', async () => {
    const { driver, spec, machine } = await startWith({ hasScreen: true });
    const { screenshots, input } = driver.capabilities;
    expect(machine.capabilities).toMatchObject({ screenshot: screenshots, input });
    await driver.destroyInstance(spec.directory);
  });

  it('takes pictures of a screen, also of one that nothing was drawn on, and none of a dead machine', async () => {
    const { driver, spec, machine } = await startWith({ hasScreen: true });
    if (supportsScreenshots(machine)) {
      const [first, second] = await Promise.all([machine.screenshot(soon()), machine.screenshot(soon())]);
      const { width, height } = pngSize(first);
      expect(Math.min(width, height)).toBeGreaterThan(0);
      expect(pngSize(second)).toEqual({ width, height });
      await machine.stop({ graceMs: 0 });
      await expect(machine.screenshot(soon())).rejects.toMatchObject({ code: 'VM_MACHINE_ENDED' });
    }
    await driver.destroyInstance(spec.directory);
  });

  it('takes every kind of input, and none for a dead machine', async () => {
    const { driver, spec, machine } = await startWith({ hasScreen: true });
    if (supportsInput(machine)) {
      await machine.sendInput(
        [
          { kind: 'move', x: 0, y: 1 },
          { kind: 'button', button: 'left', isDown: true },
          { kind: 'button', button: 'left', isDown: false },
          { kind: 'key', key: 'ret', isDown: true },
          { kind: 'key', key: 'ret', isDown: false },
          { kind: 'scroll', direction: 'down', steps: 2 },
        ],
        soon(),
      );
      await machine.stop({ graceMs: 0 });
      const late = machine.sendInput([{ kind: 'move', x: 0, y: 0 }], soon());
      await expect(late).rejects.toMatchObject({ code: 'VM_MACHINE_ENDED' });
    }
    await driver.destroyInstance(spec.directory);
  });
}
