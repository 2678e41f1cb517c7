import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { tempDir, type TempDir } from '@inquest/testing';
import type { VmHandle } from '@inquest/vm-driver';
import { QemuHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
const RTC_BASE_MS = Date.UTC(2024, 1, 29, 12);

describe('a real guest that was given a directory and a clock', () => {
  let harness: QemuHarness;
  let shared: TempDir;
  let machine: VmHandle;
  beforeAll(async () => {
    shared = await tempDir('qemu-shared');
    await chmod(shared.path, 0o755);
    await mkdir(path.join(shared.path, 'below'));
    await writeFile(path.join(shared.path, 'below', 'text'), 'of the host');
    await writeFile(path.join(shared.path, 'secret'), 'for the owner', { mode: 0o600 });
    await symlink('/etc/hostname', path.join(shared.path, 'absolute'));
    await symlink(`../${path.basename(shared.path)}/below/text`, path.join(shared.path, 'around'));
    await symlink('below/text', path.join(shared.path, 'inside'));
    harness = await QemuHarness.create(await tempDir('qemu-shares'));
    const shares = [{ tag: 'docs', path: shared.path }];
    machine = await harness.driver.start(harness.makeSpec({ shares, rtcBaseMs: RTC_BASE_MS }), soon());
    const agent = new GuestAgentClient(machine.link);
    await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    await agent.mount({ tag: 'docs', path: '/mnt/docs' }, { signal: soon() });
  });
  afterAll(async () => {
    await harness.dispose();
    await shared.remove();
  });

  /** Both outputs of a shell command in the guest. */
  async function outputOf(shell: string): Promise<string> {
    const bounds = { headBytes: 4096, tailBytes: 0 };
    const { stdout } = await new GuestAgentClient(machine.link).execBounded(
      { shell: `exec 2>&1; ${shell}` },
      { signal: soon(), bounds },
    );
    return Buffer.from(stdout.head).toString('utf8').trim();
  }

  it('reads what is in the directory, also what comes into it later', async () => {
    await expect(outputOf('cat /mnt/docs/below/text')).resolves.toBe('of the host');
    await writeFile(path.join(shared.path, 'late'), 'came later');
    await expect(outputOf('cat /mnt/docs/late')).resolves.toBe('came later');
  });

  it('cannot change it, not even as root that mounts it anew', async () => {
    const writes = ['echo x > /mnt/docs/below/text', 'rm /mnt/docs/late', 'mkdir /mnt/docs/new', 'chmod 777 /mnt/docs'];
    for (const write of writes) await expect(outputOf(write)).resolves.toContain('Read-only file system');
    await outputOf('umount /mnt/docs');
    await outputOf('mount -t 9p -o trans=virtio,version=9p2000.L,rw docs /mnt/docs');
    for (const write of writes) await expect(outputOf(write)).resolves.toContain('Read-only file system');
    await expect(readFile(path.join(shared.path, 'below', 'text'), 'utf8')).resolves.toBe('of the host');
  });

  it('sees nothing of the host beside the directory, and no file that the monitor may not read', async () => {
    await expect(outputOf('cat /mnt/docs/inside')).resolves.toBe('of the host');
    await expect(outputOf('cat /mnt/docs/around')).resolves.toContain('No such file');
    await expect(outputOf('cat /mnt/docs/absolute')).resolves.toBe(await outputOf('cat /etc/hostname'));
    await expect(outputOf('ls /mnt/docs/../docs/..')).resolves.toBe(await outputOf('ls /mnt'));
    await expect(outputOf('cat /mnt/docs/secret')).resolves.toContain('Permission denied');
  });

  it('has the time that it was pinned to', async () => {
    const ageMs = Number(await outputOf('date +%s')) * 1000 - RTC_BASE_MS;
    expect(ageMs).toBeGreaterThanOrEqual(0);
    expect(ageMs).toBeLessThan(harness.guestUpMs * 2);
  });
});
