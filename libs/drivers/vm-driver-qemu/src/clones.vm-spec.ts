import { readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { eventually, tempDir } from '@inquest/testing';
import { BUNDLE_FILES, drawVerdict, encodeMeta, parseEvidence } from '@inquest/verdict-engine';
import {
  cloneSpecOf,
  copySpecOf,
  requireSerialShell,
  type VmCloneSpec,
  type VmHandle,
  type VmSpec,
  type VmTemplate,
} from '@inquest/vm-driver';
import { QemuVmDriver } from './qemu-vm-driver';
import { QemuHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);

/** Memory of this process that is in use, without what only waits to be collected. */
function memoryMib(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / (1024 * 1024);
}

/** Lives of the leak test, and how many clones of clones stand on one another in it. */
const CYCLES = Number(process.env['INQUEST_CLONE_CYCLES'] ?? 50);
const CHAIN_DEPTH = Number(process.env['INQUEST_CLONE_CHAIN'] ?? 5);
/** By then this process has all the code and caches that it will have. */
const SETTLED_CYCLES = 10;
/** What the lives after that may leave in the memory of this process: a twentieth of a MiB each would show. */
const MAX_GROWTH_MIB = 2;

describe('clones of a real guest', () => {
  let harness: QemuHarness;
  let driver: QemuVmDriver;
  let template: VmTemplate;
  beforeAll(async () => {
    harness = await QemuHarness.create(await tempDir('qemu-clones'));
    driver = harness.driver;
    const spec = harness.makeSpec({ isCapturable: true });
    const source = await driver.start(spec, soon());
    // The agent answers before init has mounted what would hide the marker.
    const booted = 'until grep -q " /run tmpfs " /proc/mounts; do sleep 0.1; done';
    await outputOf(source, `${booted}; echo from-the-template > /root/marker; echo in-memory > /run/marker`);
    template = await driver.captureTemplate(source, harness.makeTemplatePath(), soon());
    await driver.destroyInstance(spec.directory);
  });
  afterAll(() => harness.dispose());

  const makeClone = (overrides: Partial<VmSpec> = {}): VmCloneSpec =>
    cloneSpecOf(harness.makeSpec(overrides), template);

  /** Runs `use` on a new clone, and destroys it. */
  async function withClone<T>(
    use: (machine: VmHandle, spec: VmCloneSpec) => Promise<T>,
    spec = makeClone(),
  ): Promise<T> {
    const machine = await driver.clone(spec, soon());
    try {
      return await use(machine, spec);
    } finally {
      await driver.destroyInstance(spec.directory);
    }
  }

  /** Standard output of a shell command in the guest. */
  async function outputOf(machine: VmHandle, shell: string): Promise<string> {
    const agent = new GuestAgentClient(machine.link);
    await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    const bounds = { headBytes: 4096, tailBytes: 0 };
    const { stdout } = await agent.execBounded({ shell }, { signal: soon(), bounds });
    return Buffer.from(stdout.head).toString('utf8').trim();
  }

  it('gives no two of twenty the same random bytes, UUID or machine id', async () => {
    const draws: string[][] = [];
    const shell = [
      'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d " \\n"; echo',
      // Busybox's mktemp takes its letters from getrandom(2).
      'mktemp -u /tmp/XXXXXXXXXXXX',
      'cat /proc/sys/kernel/random/uuid',
      'cat /etc/machine-id',
    ].join('; ');
    for (let count = 0; count < 20; count++) {
      draws.push((await withClone((machine) => outputOf(machine, shell))).split('\n'));
    }
    for (const [at, what] of ['urandom', 'getrandom', 'uuid', 'machine id'].entries()) {
      const drawn = draws.map((lines) => lines[at]);
      expect(drawn).not.toContain(undefined);
      expect({ what, distinct: new Set(drawn).size }).toEqual({ what, distinct: 20 });
    }
  });

  it('gives clones that are started side by side different random bytes', async () => {
    const specs = Array.from({ length: 4 }, () => makeClone());
    const machines = await Promise.all(specs.map((spec) => driver.clone(spec, soon())));
    const uuids = await Promise.all(machines.map((machine) => outputOf(machine, 'cat /proc/sys/kernel/random/uuid')));
    expect(new Set(uuids).size).toBe(4);
    await Promise.all(specs.map(({ directory }) => driver.destroyInstance(directory)));
  });

  it('has the disk and the memory of the template, and keeps its own changes to itself', async () => {
    await withClone(async (first) => {
      await expect(outputOf(first, 'cat /root/marker /run/marker')).resolves.toBe('from-the-template\nin-memory');
      await outputOf(first, 'echo changed > /root/marker; echo changed > /run/marker; sync');
      await withClone((second) =>
        expect(outputOf(second, 'cat /root/marker /run/marker')).resolves.toBe('from-the-template\nin-memory'),
      );
    });
    await expect(driver.openTemplate(template.directory, soon())).resolves.toEqual(template);
  });

  it('can be copied while it runs: processes and memory go on in both, disks and random numbers are their own', async () => {
    await withClone(async (source) => {
      // In a session of its own: the agent ends what a command leaves behind in the command's.
      const ticking = "setsid sh -c 'while :; do date +%s > /run/tick; sleep 1; done' >/dev/null 2>&1 &";
      await outputOf(source, `echo mine > /root/own; ${ticking} until [ -s /run/tick ]; do sleep 0.1; done`);
      const spec = harness.makeSpec({ hostname: 'twin' });
      const copy = await driver.copy(source, copySpecOf(spec), soon());
      await expect(outputOf(copy, 'cat /root/own /run/marker; hostname')).resolves.toBe('mine\nin-memory\ntwin');
      await outputOf(copy, 'rm /run/tick; echo theirs > /root/own; sync');
      for (const machine of [copy, source]) {
        await eventually(() => outputOf(machine, 'cat /run/tick').then((tick) => /^\d+$/.test(tick)));
      }
      await expect(outputOf(source, 'cat /root/own')).resolves.toBe('mine');
      const draw = 'cat /proc/sys/kernel/random/uuid /etc/machine-id';
      const drawn = (await Promise.all([copy, source].map((machine) => outputOf(machine, draw))))
        .join('\n')
        .split('\n');
      expect(new Set(drawn).size).toBe(4);
      await driver.destroyInstance(spec.directory);
    });
  });

  it('runs commands by its serial port when its agent was killed', async () => {
    await withClone(async (machine) => {
      const shell = requireSerialShell(machine);
      const exec = async (command: string, timeoutMs = harness.guestUpMs) => {
        const { exitCode, output } = await shell.execSerial({ command, timeoutMs, maxOutputBytes: 4096 }, soon());
        return { exitCode, text: Buffer.concat([output.head, output.tail]).toString() };
      };
      await harness.run(machine, 'kill -9 $PPID');
      await expect(exec('exit 3')).resolves.toEqual({ exitCode: 3, text: '' });
      const awkward = `printf '%s\\n' "it's" '\t!' "$((1 + 2))"\necho "é" >&2; printf '\\033[31mred\\033[0m'; cat; cat /root/marker`;
      await expect(exec(awkward)).resolves.toEqual({ exitCode: 0, text: "it's\n\t!\n3\né\nredfrom-the-template\n" });
      await expect(exec(`: ${'x'.repeat(3000)}; kill -TERM $$`)).resolves.toMatchObject({ exitCode: 143 });
      await expect(exec('sleep 1000', 2_000)).rejects.toMatchObject({ code: 'VM_SERIAL_TIMEOUT' });
      await expect(exec('pidof sleep')).resolves.toEqual({ exitCode: 1, text: '' });
      expect(Buffer.from(machine.consoleTail(4096)).toString()).not.toContain('inquest_command');
    });
  });

  it('wakes up now, or at the time that it is pinned to', async () => {
    await withClone(async (machine) => {
      const seconds = Number(await outputOf(machine, 'date +%s'));
      expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(30);
    });
    const rtcBaseMs = Date.UTC(2001, 8, 9, 1, 46, 40);
    await withClone(async (machine) => {
      const ageMs = Number(await outputOf(machine, 'date +%s')) * 1000 - rtcBaseMs;
      expect(ageMs).toBeGreaterThanOrEqual(0);
      expect(ageMs).toBeLessThan(harness.guestUpMs);
    }, makeClone({ rtcBaseMs }));
  });

  it('runs without privileges on a memory that it cannot write back', async () => {
    await withClone(async (machine) => {
      const status = await readFile(`/proc/${machine.pid}/status`, 'utf8');
      expect(status).toMatch(/^CapEff:\s+0+$/m);
      expect(status).toMatch(/^Seccomp:\s+2$/m);
      const maps = await readFile(`/proc/${machine.pid}/maps`, 'utf8');
      const memory = maps.split('\n').filter((line) => line.endsWith('memory.ram'));
      expect(memory.length).toBeGreaterThan(0);
      for (const line of memory) expect(line).toMatch(/ rw-p /);
    });
  });

  it.each([
    ['clean_poweroff', 'poweroff'],
    ['guest_reset', 'reset'],
    ['panicked', 'panic'],
  ] as const)('leaves evidence of which the verdict is %s', async (expected, ending) => {
    await withClone(async (machine, { evidenceDirectory }) => {
      await harness.end(machine, ending);
      const exit = await machine.exited;
      const files = await Promise.all(
        Object.values(BUNDLE_FILES).map(async (file) => [
          file,
          await readFile(path.join(evidenceDirectory, file)).catch(() => undefined),
        ]),
      );
      const meta = encodeMeta({
        formatVersion: 1,
        machineId: machine.machineId,
        incarnation: machine.incarnation,
        driver: 'qemu',
        origin: 'clone',
        startedAtMs: exit.atMs - 60_000,
        observedAtMs: exit.atMs,
        exit,
        stderrTail: exit.stderrTail,
        serial: { totalBytes: machine.recording.serialTotalBytes, droppedBytes: 0 },
        recorder: { attachedBeforeBoot: true, lost: machine.recording.eventsLost, note: null },
      });
      const present = files.filter(([, content]) => content !== undefined);
      const bundle = { ...Object.fromEntries(present), [BUNDLE_FILES.meta]: Buffer.from(meta) };
      expect(drawVerdict(parseEvidence(bundle))).toMatchObject({
        class: expected,
        ended: true,
        boots: 1,
        warnings: [],
      });
    });
  });

  it('refuses a half-made template and one of another monitor', async () => {
    const other = new QemuVmDriver({ instancesRoot: harness.instancesRoot });
    jest.spyOn(other, 'checkHost').mockResolvedValue({ accelerator: 'tcg', reason: '', version: 'QEMU of tomorrow' });
    await expect(other.openTemplate(template.directory, soon())).rejects.toMatchObject({
      code: 'VM_TEMPLATE_UNFIT',
      message: expect.stringMatching(/QEMU of tomorrow/),
      details: { flaw: 'outdated' },
    });
    const spec = makeClone({ isCapturable: true });
    const half = await driver.captureTemplate(await driver.clone(spec, soon()), harness.makeTemplatePath(), soon());
    await driver.destroyInstance(spec.directory);
    const record = path.join(half.directory, 'template.json');
    const ofToday = JSON.parse(await readFile(record, 'utf8')) as object;
    await writeFile(record, JSON.stringify({ ...ofToday, formatVersion: 1 }));
    await expect(driver.openTemplate(half.directory, soon())).rejects.toMatchObject({
      code: 'VM_TEMPLATE_UNFIT',
      details: { flaw: 'outdated' },
    });
    await rm(record);
    await expect(driver.openTemplate(half.directory, soon())).rejects.toMatchObject({
      code: 'VM_TEMPLATE_UNFIT',
      details: { flaw: 'incomplete' },
    });
  });

  it('gives up a clone whose agent does not answer in time, and leaves nothing', async () => {
    const limits = { startTimeoutMs: 25, overlayBytes: null };
    const spec = makeClone({ limits });
    await expect(driver.clone(spec, soon())).rejects.toMatchObject({ code: 'VM_START_TIMEOUT' });
    expect(await harness.leftovers(spec.directory)).toEqual([]);
  });

  it(`ends ${CYCLES} lives, and chains of templates, with the files, sockets, processes and memory that it began with`, async () => {
    const before = await census();
    let settledMib = Number.POSITIVE_INFINITY;
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      if (cycle === Math.min(SETTLED_CYCLES, CYCLES - 1)) settledMib = memoryMib();
      await withClone((machine) => expect(machine.status(soon())).resolves.toEqual({ status: 'running' }));
    }
    expect(memoryMib() - settledMib).toBeLessThan(MAX_GROWTH_MIB);
    let parent = template;
    for (let depth = 0; depth < CHAIN_DEPTH; depth++) {
      const spec = { ...makeClone({ isCapturable: true }), template: parent };
      const machine = await driver.clone(spec, soon());
      parent = await driver.captureTemplate(machine, harness.makeTemplatePath(), soon());
      await driver.destroyInstance(spec.directory);
    }
    await withClone((machine) => expect(outputOf(machine, 'cat /root/marker')).resolves.toBe('from-the-template'), {
      ...makeClone(),
      template: parent,
    });
    await expect(census()).resolves.toEqual(before);
  });

  /** What this process holds, and what is left of machines on the host. */
  async function census(): Promise<object> {
    const descriptors = await readdir('/proc/self/fd');
    const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
    return {
      instances: (await readdir(harness.instancesRoot)).filter((name) => !name.startsWith('.')),
      sockets: links.filter((link) => link.startsWith('socket:')).length,
      files: links.filter((link) => link.startsWith('/')).length,
      children: children.trim().split(' ').length,
    };
  }
});
