import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { requireTemplates, supportsShares } from '../capabilities';
import { peerAddress } from '../peer-network';
import type { VmSpec } from '../vm-specification';
import { soon, waitUntilUp } from './suite-steps';
import type { VmDriverHarness } from './vm-driver-harness';

const REACH_MS = 60_000;

/** Part of `describeVmDriver`: one test for each promise about shares and networks, for drivers that have them. */
export function describeConnections(harnessOf: () => VmDriverHarness): void {
  let directories = 0;
  /** A directory beside the instances, as whoever starts machines may have it. */
  async function makeDirectory({ directory }: Pick<VmSpec, 'directory'>, mode: number): Promise<string> {
    const made = path.join(path.dirname(path.dirname(directory)), `shared-${++directories}`);
    await mkdir(made, { recursive: true, mode });
    return made;
  }

  it('starts nothing with a share that machines cannot read, and says so before, too', async () => {
    const { driver } = harnessOf();
    if (!supportsShares(driver)) return expect(driver.capabilities.shares ?? false).toBe(false);
    const spec = harnessOf().makeSpec();
    const closed = await makeDirectory(spec, 0o700);
    await expect(driver.checkShare(closed)).rejects.toMatchObject({ code: 'VM_FILE_UNREADABLE' });
    const starting = driver.start({ ...spec, shares: [{ tag: 'closed', path: closed }] }, soon());
    await expect(starting).rejects.toMatchObject({ code: 'VM_FILE_UNREADABLE' });
    expect(await harnessOf().leftovers(spec.directory)).toEqual([]);
  });

  it('gives the guest a share under its tag, and makes no template of it', async () => {
    const { driver } = harnessOf();
    if (!supportsShares(driver)) return expect(driver.capabilities.shares ?? false).toBe(false);
    const spec = harnessOf().makeSpec({ isCapturable: true });
    const shared = await makeDirectory(spec, 0o755);
    await expect(driver.checkShare(shared)).resolves.toBeUndefined();
    const machine = await driver.start({ ...spec, shares: [{ tag: 'docs', path: shared }] }, soon());
    await waitUntilUp(harnessOf(), machine);
    await new GuestAgentClient(machine.link).mount({ tag: 'docs', path: '/mnt/docs' }, { signal: soon() });
    if (driver.capabilities.templates) {
      const capturing = requireTemplates(driver).captureTemplate(machine, `${shared}-template`, soon());
      await expect(capturing).rejects.toMatchObject({ code: 'VM_MACHINE_UNCAPTURABLE' });
      await expect(machine.status(soon())).resolves.toEqual({ status: 'running' });
    }
    await driver.destroyInstance(spec.directory);
  });

  it('lets the machines of a network reach each other, whoever of them comes back, and leaves no socket', async () => {
    const { driver } = harnessOf();
    if (driver.capabilities.networks !== true) return expect(driver.capabilities.networks ?? false).toBe(false);
    const first = harnessOf().makeSpec();
    const second = harnessOf().makeSpec();
    const network = { directory: path.join(path.dirname(path.dirname(first.directory)), `net-${++directories}`) };
    const specs = [
      { ...first, network: { ...network, index: 1, neighbours: [2] } },
      { ...second, network: { ...network, index: 2, neighbours: [1] } },
    ];
    const [one, two] = await Promise.all(specs.map((spec) => driver.start(spec, soon())));
    if (one === undefined || two === undefined) throw new Error('two machines were started');
    await Promise.all([waitUntilUp(harnessOf(), one), waitUntilUp(harnessOf(), two)]);
    const reach = (from: typeof one, index: number): Promise<void> =>
      new GuestAgentClient(from.link).reach(
        { address: peerAddress(index), timeoutMs: REACH_MS },
        { signal: AbortSignal.timeout(REACH_MS * 2), deadlineMs: REACH_MS * 2 },
      );
    await Promise.all([reach(one, 2), reach(two, 1)]);
    await driver.destroyInstance(second.directory);
    const again = await driver.start({ ...specs[1], ...second, incarnation: 2 }, soon());
    await waitUntilUp(harnessOf(), again);
    await reach(one, 2);
    await Promise.all(specs.map(({ directory }) => driver.destroyInstance(directory)));
    await expect(readdir(network.directory).catch(() => [])).resolves.toEqual([]);
  });
}
