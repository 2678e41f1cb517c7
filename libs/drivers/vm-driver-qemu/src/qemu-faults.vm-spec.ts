import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { tempDir } from '@inquest/testing';
import { instanceFile, type VmEvent, type VmHandle, type VmSpec } from '@inquest/vm-driver';
import { HOST_CHECK_FILE } from './host-check-cache';
import { QemuVmDriver } from './qemu-vm-driver';
import { QemuHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);

describe('QemuVmDriver', () => {
  let harness: QemuHarness;
  let driver: QemuVmDriver;
  beforeAll(async () => {
    harness = await QemuHarness.create(await tempDir('qemu-faults'));
    driver = harness.driver;
  });
  afterEach(async () => {
    const directories = await readdir(harness.instancesRoot);
    const instances = directories.filter((name) => !name.startsWith('.'));
    await Promise.all(instances.map((name) => driver.destroyInstance(path.join(harness.instancesRoot, name))));
  });
  afterAll(() => harness.dispose());

  const start = (spec: VmSpec): Promise<VmHandle> => driver.start(spec, soon());

  /** Standard output of a shell command in the guest. */
  async function runInGuest(machine: VmHandle, shell: string): Promise<string> {
    const agent = new GuestAgentClient(machine.link);
    await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    const { stdout } = await agent.execBounded(
      { shell },
      { signal: soon(), bounds: { headBytes: 4096, tailBytes: 4096 } },
    );
    return Buffer.from(stdout.head).toString('utf8');
  }

  /** The next event of this name. */
  const nextEvent = (machine: VmHandle, name: string): Promise<VmEvent> =>
    new Promise((resolve, reject) => {
      machine.onEvent((event) => event.name === name && resolve(event));
      void machine.exited.then(() => reject(new Error(`the machine ended without ${name}`)));
    });

  describe('a start that fails', () => {
    it.each<[string, string, RegExp, (spec: VmSpec) => Promise<Partial<VmSpec>>]>([
      [
        'a base disk that does not exist',
        'VM_FILE_UNREADABLE',
        /no such file/,
        async () => ({ disk: { basePath: '/nowhere/disk.raw', baseFormat: 'raw' } }),
      ],
      [
        'a base disk of another format',
        'VM_OVERLAY_FAILED',
        /qcow2 format/,
        async (spec) => ({ disk: { ...spec.disk, baseFormat: 'qcow2' } }),
      ],
      [
        'a kernel that is none',
        'VM_START_FAILED',
        /kernel/,
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
        async (spec) => ({ limits: { ...spec.limits, startTimeoutMs: 5 } }),
      ],
    ])('leaves nothing and says why: %s', async (_, code, message, change) => {
      const sound = harness.makeSpec();
      const spec = { ...sound, ...(await change(sound)) };
      await expect(start(spec)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
      expect(await harness.leftovers(spec.directory)).toEqual([]);
      await rm(`${spec.directory}.not-a-kernel`, { force: true });
    });
  });

  it('starts five machines at once, each with a process and a disk of its own', async () => {
    const specs = Array.from({ length: 5 }, () => harness.makeSpec());
    const machines = await Promise.all(specs.map(start));
    const statuses = await Promise.all(machines.map((machine) => machine.status(soon())));
    expect(statuses).toEqual(specs.map(() => ({ status: 'running' })));
    expect(new Set(machines.map((machine) => machine.pid)).size).toBe(5);
  });

  it('runs QEMU without privileges, and keeps from it all that it need not write', async () => {
    const spec = harness.makeSpec();
    const machine = await start(spec);
    const status = await readFile(`/proc/${machine.pid}/status`, 'utf8');
    const uid = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
    expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, 'm'));
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    await expect(readFile(`/proc/${machine.pid}/limits`, 'utf8')).resolves.toMatch(/^Max core file size\s+0\s+0/m);
    expect((await stat(instanceFile(spec.directory, 'record'))).uid).toBe(process.getuid?.());
    expect((await stat(instanceFile(spec.directory, 'vmm'))).uid).toBe(uid);
  });

  it('answers for a stopped QEMU, ends it, and is not held up by it elsewhere', async () => {
    const [frozen, other] = await Promise.all([start(harness.makeSpec()), start(harness.makeSpec())]);
    process.kill(frozen.pid, 'SIGSTOP');
    await expect(frozen.status(AbortSignal.timeout(300))).resolves.toEqual({ status: null });
    await expect(frozen.pause(AbortSignal.timeout(300))).rejects.toMatchObject({ code: 'VM_MONITOR_SILENT' });
    await expect(other.status(soon())).resolves.toEqual({ status: 'running' });
    await expect(frozen.stop({ graceMs: 0 })).resolves.toMatchObject({ signal: 'SIGKILL' });
  });

  it('announces the guest agent, runs on the pinned clock, and never writes the base disk', async () => {
    const digestOf = async (file: string): Promise<string> =>
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
    const rtcBaseMs = Date.UTC(2001, 8, 9, 1, 46, 40);
    const spec = harness.makeSpec({ rtcBaseMs, hostname: 'pinned' });
    const before = await digestOf(spec.disk.basePath);
    const machine = await start(spec);
    const announced = nextEvent(machine, 'VSERPORT_CHANGE');
    const [seconds, hostname] = (
      await runInGuest(machine, 'date +%s; hostname; dd if=/dev/zero of=/root/x bs=1k count=9; sync')
    ).split('\n');
    expect(Number(seconds) * 1000 - rtcBaseMs).toBeGreaterThanOrEqual(0);
    expect(Number(seconds) * 1000 - rtcBaseMs).toBeLessThan(harness.guestUpMs);
    expect(hostname).toBe('pinned');
    await expect(announced).resolves.toMatchObject({ data: { open: true, id: 'inquest.mux' } });
    await expect(digestOf(spec.disk.basePath)).resolves.toBe(before);
  });

  it('pauses a guest whose overlay is full instead of failing its writes', async () => {
    const limits = { startTimeoutMs: 60_000, overlayBytes: 4 * 1024 * 1024 };
    const machine = await start(harness.makeSpec({ limits }));
    await runInGuest(machine, 'true');
    const failed = nextEvent(machine, 'BLOCK_IO_ERROR');
    const stopped = nextEvent(machine, 'STOP');
    await harness.run(machine, 'dd if=/dev/urandom of=/root/fill bs=64k count=320; sync');
    await expect(failed).resolves.toMatchObject({ data: { action: 'stop' } });
    await stopped;
    await expect(machine.status(soon())).resolves.toEqual({ status: 'io-error' });
  });

  describe('a later service', () => {
    it('finds and ends a QEMU that was never recorded', async () => {
      const spec = harness.makeSpec();
      const machine = await start(spec);
      await rm(instanceFile(spec.directory, 'record'));
      const reaped = await harness.laterDriver().reapOrphans(soon());
      const found = { machineId: null, incarnation: null, directory: spec.directory, observedGone: true };
      expect(reaped).toContainEqual(expect.objectContaining({ ...found, pid: machine.pid }));
      await expect(machine.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
      expect(await harness.leftovers(spec.directory)).toEqual([]);
    });

    it('destroys a machine that it never knew', async () => {
      const spec = harness.makeSpec();
      const machine = await start(spec);
      const destroyed = await harness.laterDriver().destroyInstance(spec.directory);
      expect(destroyed).toEqual({ killed: true, signalled: true, directoryRemoved: true });
      await expect(machine.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
      expect(await harness.leftovers(spec.directory)).toEqual([]);
    });

    it('never kills a stranger that got the pid of a machine', async () => {
      const spec = harness.makeSpec();
      const machine = await start(spec);
      const record = JSON.parse(await readFile(instanceFile(spec.directory, 'record'), 'utf8')) as {
        processes: { pid: number }[];
      };
      await machine.stop({ graceMs: 0 });
      // This process plays the stranger: it would not live to see the expectation.
      for (const recorded of record.processes) recorded.pid = process.pid;
      await writeFile(instanceFile(spec.directory, 'record'), JSON.stringify(record));
      const destroyed = await harness.laterDriver().destroyInstance(spec.directory);
      expect(destroyed).toEqual({ killed: true, signalled: false, directoryRemoved: true });
    });

    it('knows what runs guests here without probing again', async () => {
      const first = await driver.checkHost(soon());
      expect(first.version).toContain('QEMU');
      expect(first.reason).not.toBe('');
      const file = path.join(harness.instancesRoot, HOST_CHECK_FILE);
      const kept = await readFile(file, 'utf8');
      await writeFile(file, JSON.stringify({ ...(JSON.parse(kept) as object), reason: 'as it was found before' }));
      await expect(harness.laterDriver().checkHost(soon())).resolves.toEqual({
        ...first,
        reason: 'as it was found before',
      });
      await writeFile(file, 'torn');
      await expect(harness.laterDriver().checkHost(soon())).resolves.toEqual(first);
    });
  });

  it('says that a host without QEMU cannot run machines', async () => {
    const instancesRoot = path.join(harness.instancesRoot, '..', 'no-qemu');
    const without = new QemuVmDriver({ instancesRoot, qemuBinary: 'qemu-system-of-nobody' });
    await expect(without.checkHost(soon())).rejects.toMatchObject({
      code: 'VM_HOST_UNSUPPORTED',
      message: expect.stringContaining('qemu-system-of-nobody'),
    });
  });
});
