import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { requireVsockDevice } from '@inquest/guest-link/testing';
import { eventually, tempDir } from '@inquest/testing';
import { instanceFile, type VmHandle, type VmSpec } from '@inquest/vm-driver';
import { FirecrackerVmDriver } from './firecracker-vm-driver';
import { FirecrackerHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
const { path: vsockProgram } = requireVsockDevice('what is special about Firecracker');

(vsockProgram === null ? describe.skip : describe)('FirecrackerVmDriver with a stand-in for Firecracker', () => {
  let harness: FirecrackerHarness;
  beforeAll(async () => {
    harness = await FirecrackerHarness.create(await tempDir('firecracker-faults'));
  });
  afterAll(() => harness.dispose());

  describe('a start that fails', () => {
    it.each<[string, string, RegExp, (spec: VmSpec) => Promise<Partial<VmSpec>>]>([
      [
        'a base disk that does not exist',
        'VM_FILE_UNREADABLE',
        /no such file/,
        async () => ({ disk: { basePath: '/nowhere/disk.raw', baseFormat: 'raw' } }),
      ],
      [
        'a disk that is larger than its copy may be',
        'VM_OVERLAY_FAILED',
        /bytes/,
        async ({ limits }) => ({ limits: { ...limits, overlayBytes: 1_048_576 } }),
      ],
      [
        'a kernel that is none',
        'VM_START_FAILED',
        /kernel_image_path/,
        async (spec) => {
          const kernelPath = `${spec.directory}.not-a-kernel`;
          await writeFile(kernelPath, 'text', { mode: 0o644 });
          return { boot: { ...spec.boot, kernelPath } };
        },
      ],
      ['more memory than the host has', 'VM_HOST_MEMORY_EXHAUSTED', /MiB/, async () => ({ memoryMib: 1_048_576 })],
      [
        'no time',
        'VM_START_TIMEOUT',
        /within 5 ms/,
        async ({ limits }) => ({ limits: { ...limits, startTimeoutMs: 5 } }),
      ],
    ])('leaves nothing and says why: %s', async (_, code, message, change) => {
      const sound = harness.makeSpec();
      await harness.driver.checkHost(soon());
      const starting = harness.driver.start({ ...sound, ...(await change(sound)) }, soon());
      await expect(starting).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
      expect(await harness.leftovers(sound.directory)).toEqual([]);
      await rm(`${sound.directory}.not-a-kernel`, { force: true });
    });
  });

  it('says that a host without Firecracker cannot run machines', async () => {
    const without = new FirecrackerVmDriver({ instancesRoot: harness.instancesRoot, firecrackerBinary: 'of-nobody' });
    await expect(without.checkHost(soon())).rejects.toMatchObject({
      code: 'VM_HOST_UNSUPPORTED',
      message: expect.stringContaining('of-nobody'),
    });
  });

  it('does not take the stand-in for Firecracker under KVM', async () => {
    await expect(harness.driver.checkHost(soon())).resolves.toMatchObject({
      accelerator: 'tcg',
      reason: expect.stringContaining('stand-in'),
    });
  });

  describe('a machine', () => {
    let spec: VmSpec;
    let machine: VmHandle;
    let agent: GuestAgentClient;
    let baseDigest: string;
    let guestStreams = 0;
    beforeAll(async () => {
      const { boot } = harness.makeSpec();
      spec = harness.makeSpec({
        boot: { ...boot, commandLine: ['inquest.egress=1'] },
        listeners: [{ port: 3128, handler: (stream) => void (guestStreams++, stream.destroy()) }],
      });
      baseDigest = await digestOf(spec.disk.basePath);
      machine = await harness.driver.start(spec, soon());
      agent = new GuestAgentClient(machine.link);
      await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    });

    const run = (shell: string) =>
      agent.execBounded({ shell }, { signal: soon(), bounds: { headBytes: 4096, tailBytes: 4096 } });

    it('runs Firecracker without privileges, and keeps from it all that it need not write', async () => {
      const uid = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
      const status = await readFile(`/proc/${machine.pid}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, 'm'));
      await expect(readFile(`/proc/${machine.pid}/limits`, 'utf8')).resolves.toMatch(/^Max core file size\s+0\s+0/m);
      expect((await stat(instanceFile(spec.directory, 'record'))).uid).toBe(process.getuid?.());
      expect((await stat(instanceFile(spec.directory, 'vmm'))).uid).toBe(uid);
    });

    it('writes a sparse copy of the disk and never the base', async () => {
      const shell = 'dd if=/dev/zero of=/root/x bs=1k count=9 && sync && test "$(stat -c %s /root/x)" = 9216';
      await expect(run(shell)).resolves.toMatchObject({ code: 0 });
      const copy = await stat(path.join(instanceFile(spec.directory, 'vmm'), 'root.1.raw'));
      const base = await stat(spec.disk.basePath);
      expect([copy.size, copy.ino === base.ino]).toEqual([base.size, false]);
      // A block has 512 bytes, stat(2).
      expect(copy.blocks * 512).toBeLessThan(base.size / 2);
      await expect(digestOf(spec.disk.basePath)).resolves.toBe(baseDigest);
    });

    it('reaches a listener of the host that was there before it ran', async () => {
      await eventually(async () => {
        await expect(agent.ping({ signal: soon() })).resolves.toMatchObject({ egress: true });
      });
      expect(guestStreams).toBeGreaterThan(0);
    });

    it('lives on when somebody in it only says the last words of a kernel', async () => {
      await harness.run(machine, 'echo "<0>reboot: Power down" > /dev/kmsg');
      await eventually(() =>
        expect(Buffer.from(machine.consoleTail(4096)).toString()).toMatch(/\] reboot: Power down/),
      );
      // Longer than a kernel is given to prove that it lives.
      await expect(run('sleep 2')).resolves.toMatchObject({ code: 0 });
    });

    it('leaves no socket when it has ended', async () => {
      await machine.stop({ graceMs: 0 });
      const entries = await readdir(instanceFile(spec.directory, 'vmm'), { withFileTypes: true });
      expect(entries.filter((entry) => entry.isSocket())).toEqual([]);
      await harness.driver.destroyInstance(spec.directory);
      expect(await harness.leftovers(spec.directory)).toEqual([]);
    });
  });
});

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
