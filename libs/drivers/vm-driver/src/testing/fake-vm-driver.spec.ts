import { readdir, truncate } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '@inquest/testing';
import type { VmSpec } from '../vm-specification';
import { describeTemplateDriver } from './describe-template-driver';
import { describeVmDriver } from './describe-vm-driver';
import { FakeVmDriver, fakeMachineOf } from './fake-vm-driver';
import type { TemplateDriverHarness } from './vm-driver-harness';
import { sampleVmSpec } from './vm-spec-sample';

async function makeHarness(): Promise<TemplateDriverHarness> {
  const root = await tempDir('fake-vm');
  const instancesRoot = path.join(root.path, 'machines');
  let templates = 0;
  return {
    driver: new FakeVmDriver({ instancesRoot }),
    laterDriver: () => new FakeVmDriver({ instancesRoot }),
    makeSpec: (overrides?: Partial<VmSpec>) => sampleVmSpec(root.path, overrides),
    makeTemplatePath: () => path.join(root.path, `template-${++templates}`),
    damageTemplate: (directory) => truncate(path.join(directory, 'template.json')),
    leftovers: (directory) => readdir(directory).catch(() => []),
    end: async (machine, ending) => void (await fakeMachineOf(machine).end(ending)),
    guestUpMs: 10_000,
    startElsewhere: async (spec) => {
      const earlier = new FakeVmDriver({ instancesRoot });
      const { pid } = await earlier.start(spec, AbortSignal.timeout(10_000));
      return {
        pid,
        die: async () => void (await earlier.abandon(spec.directory)),
        endAfterDeath: async (ending) => void (await (await earlier.abandon(spec.directory)).end(ending)),
      };
    },
    dispose: () => root.remove(),
  };
}

describeVmDriver('fake', makeHarness);
describeTemplateDriver('fake', makeHarness);

describe('FakeVmDriver', () => {
  it('fails a start where the test wants it to and leaves nothing', async () => {
    const root = await tempDir('fake-vm');
    const instancesRoot = path.join(root.path, 'machines');
    const driver = new FakeVmDriver({
      instancesRoot,
      duringStart: () => Promise.reject(new Error('disk on fire')),
    });
    await expect(driver.start(sampleVmSpec(root.path), AbortSignal.timeout(10_000))).rejects.toThrow('disk on fire');
    await expect(readdir(instancesRoot)).resolves.toEqual([]);
    await root.remove();
  });

  it('plays a monitor that does not answer', async () => {
    const root = await tempDir('fake-vm');
    const driver = new FakeVmDriver({
      instancesRoot: path.join(root.path, 'machines'),
    });
    const machine = await driver.start(sampleVmSpec(root.path), AbortSignal.timeout(10_000));
    machine.freezeMonitor();
    await expect(machine.status(AbortSignal.timeout(10_000))).resolves.toEqual({ status: null });
    await expect(machine.pause(AbortSignal.timeout(5))).rejects.toMatchObject({ code: 'VM_MONITOR_SILENT' });
    await expect(machine.stop({ graceMs: 0 })).resolves.toMatchObject({ signal: 'SIGKILL' });
    await root.remove();
  });
});
