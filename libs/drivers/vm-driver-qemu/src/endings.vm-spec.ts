import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { runCommand } from '@inquest/process';
import { eventually, tempDir } from '@inquest/testing';
import {
  BUNDLE_FILES,
  drawVerdict,
  encodeMeta,
  encodeProbe,
  encodeVerdict,
  parseEvidence,
  type BundleContent,
  type ProbeRecord,
  type Verdict,
} from '@inquest/verdict-engine';
import { cloneSpecOf, type VmExit, type VmHandle, type VmSpec, type VmTemplate } from '@inquest/vm-driver';
import { QemuMachine } from './qemu-machine';
import { QemuVmDriver } from './qemu-vm-driver';
import { QemuHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
/** A guest that reboots by itself, on a machine that is five times slower. */
const BOOTS_TIMEOUT_MS = 180_000;
/** What a machine may write on the small file system. */
const SMALL_DISK = 'size=6m';
const PROBE_DEADLINE_MS = 2_000;

/** The endings that no machine of the platform comes to; the others are in `vmctl demo shutdown`. */
describe('a real guest', () => {
  let harness: QemuHarness;
  let template: VmTemplate;
  let startedAtMs: number;
  beforeAll(async () => {
    harness = await QemuHarness.create(await tempDir('qemu-endings'));
    const spec = harness.makeSpec({ isCapturable: true });
    const source = await harness.driver.start(spec, soon());
    await answerOf(source);
    template = await harness.driver.captureTemplate(source, harness.makeTemplatePath(), soon());
    await harness.driver.destroyInstance(spec.directory);
  });
  beforeEach(() => {
    startedAtMs = Date.now();
  });
  afterAll(() => harness.dispose());

  /** Waits until the guest agent answers. */
  async function answerOf(machine: VmHandle): Promise<void> {
    const { guestUpMs: deadlineMs } = harness;
    await new GuestAgentClient(machine.link).ping({ signal: AbortSignal.timeout(deadlineMs), deadlineMs });
  }

  /** An active probe, as of the service: the answers of agent and monitor, and the growth of the console. */
  async function probe(machine: VmHandle): Promise<readonly ProbeRecord[]> {
    const serial = (): ProbeRecord => ({
      atMs: Date.now(),
      kind: 'serial',
      totalBytes: machine.recording.serialTotalBytes,
    });
    const before = serial();
    const agent = new GuestAgentClient(machine.link);
    const ok = await agent.ping({ signal: AbortSignal.timeout(PROBE_DEADLINE_MS) }).then(
      () => true,
      () => false,
    );
    const { status } = await machine.status(soon());
    const atMs = Date.now();
    const ping = { atMs, kind: 'ping', ok, latencyMs: atMs - before.atMs, deadlineMs: PROBE_DEADLINE_MS } as const;
    return [before, ping, { atMs, kind: 'status', status }, serial()];
  }

  /** The verdict on the evidence as it is on disk, which must be the same when it is drawn again. */
  async function verdictOn(
    machine: VmHandle,
    { evidenceDirectory }: Pick<VmSpec, 'evidenceDirectory'>,
    facts: { readonly exit?: VmExit; readonly probes?: readonly ProbeRecord[]; readonly origin?: 'clone' } = {},
  ): Promise<Verdict> {
    const { exit = null, probes = [], origin = 'boot' } = facts;
    const meta = encodeMeta({
      formatVersion: 1,
      machineId: machine.machineId,
      incarnation: machine.incarnation,
      driver: 'qemu',
      origin,
      startedAtMs,
      observedAtMs: Date.now(),
      exit: exit === null ? null : { code: exit.code, signal: exit.signal, atMs: exit.atMs },
      stderrTail: exit?.stderrTail ?? '',
      serial: { totalBytes: machine.recording.serialTotalBytes, droppedBytes: machine.recording.serialDroppedBytes },
      recorder: { attachedBeforeBoot: true, lost: machine.recording.eventsLost, note: null },
    });
    await writeFile(path.join(evidenceDirectory, BUNDLE_FILES.meta), meta);
    await writeFile(path.join(evidenceDirectory, BUNDLE_FILES.probes), probes.map(encodeProbe).join(''));
    const verdict = drawVerdict(parseEvidence(await readBundle(evidenceDirectory)));
    const again = drawVerdict(parseEvidence(await readBundle(evidenceDirectory)));
    expect(encodeVerdict(again)).toBe(encodeVerdict(verdict));
    return verdict;
  }

  async function readBundle(directory: string): Promise<BundleContent> {
    const files = await Promise.all(
      Object.values(BUNDLE_FILES).map(
        async (file) => [file, await readFile(path.join(directory, file)).catch(() => null)] as const,
      ),
    );
    return Object.fromEntries(files.filter(([, content]) => content !== null));
  }

  /** A QEMU that lets its guest reset, as the driver's never does. */
  async function resettingQemu(): Promise<string> {
    const wrapper = path.join(harness.instancesRoot, '..', 'resetting-qemu');
    const script = [
      '#!/bin/sh',
      'for argument; do shift; [ "$argument" = -no-reboot ] || set -- "$@" "$argument"; done',
      'exec qemu-system-x86_64 "$@"',
    ];
    await writeFile(wrapper, script.join('\n'));
    await chmod(wrapper, 0o755);
    return wrapper;
  }

  it('that reboots again and again is in a reset_loop', async () => {
    const { instancesRoot } = harness;
    const driver = new QemuVmDriver({ instancesRoot, qemuBinary: await resettingQemu() });
    const spec = harness.makeSpec();
    const machine = await driver.start(spec, soon());
    await answerOf(machine);
    await harness.run(machine, 'echo "::sysinit:/sbin/reboot -f" > /etc/inittab; sync; reboot -f');
    const isLooping = async (): Promise<boolean> => (await verdictOn(machine, spec)).class === 'reset_loop';
    await eventually(isLooping, { timeoutMs: BOOTS_TIMEOUT_MS });
    await expect(verdictOn(machine, spec)).resolves.toMatchObject({
      class: 'reset_loop',
      blame: 'guest',
      ended: false,
    });
    await driver.destroyInstance(spec.directory);
  });

  it('whose kernel dies before it can speak has never_booted', async () => {
    const sound = harness.makeSpec();
    // Not even the kernel's own image fits: it dies before it has a console.
    const spec = { ...sound, boot: { ...sound.boot, commandLine: ['mem=8M'] } };
    const machine = await harness.driver.start(spec, soon());
    const verdict = await verdictOn(machine, spec, { probes: await probe(machine) });
    expect(verdict).toMatchObject({ class: 'never_booted', confidence: 'likely', boots: 0 });
    await harness.driver.destroyInstance(spec.directory);
  });

  it('that is paused by the host has neither ended nor hung, and goes on afterwards', async () => {
    const spec = cloneSpecOf(harness.makeSpec(), template);
    const machine = await harness.driver.clone(spec, soon());
    await machine.pause(soon());
    const paused = await verdictOn(machine, spec, { probes: await probe(machine), origin: 'clone' });
    expect(paused).toMatchObject({ class: 'still_running', rule: 'stopped_by_host', ended: false, blame: 'none' });
    await machine.resume(soon());
    await answerOf(machine);
    await harness.driver.destroyInstance(spec.directory);
  });

  it('whose monitor is told to quit was host_killed', async () => {
    const spec = cloneSpecOf(harness.makeSpec(), template);
    const machine = await harness.driver.clone(spec, soon());
    if (!(machine instanceof QemuMachine)) throw new Error('the driver gave a handle of another kind');
    await machine.quit();
    const exit = await machine.exited;
    expect(exit).toMatchObject({ code: 0, signal: null });
    const verdict = await verdictOn(machine, spec, { exit, origin: 'clone' });
    expect(verdict).toMatchObject({ class: 'host_killed', rule: 'host_shut_down', ended: true });
    await harness.driver.destroyInstance(spec.directory);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('whose host has no room left was stopped by an io_error (needs root)', async () => {
    const small = path.join(harness.instancesRoot, '..', 'small');
    await mkdir(small, { mode: 0o711 });
    const mount = (...args: readonly string[]) => runCommand('mount', args, { timeoutMs: 10_000 });
    await mount('-t', 'tmpfs', '-o', `${SMALL_DISK},mode=0711`, 'inquest-endings', small);
    try {
      const driver = new QemuVmDriver({ instancesRoot: path.join(small, 'machines') });
      const sound = harness.makeSpec();
      const spec = { ...sound, directory: path.join(small, 'machines', sound.machineId) };
      const machine = await driver.start(spec, soon());
      await answerOf(machine);
      const stopped = new Promise<void>((resolve) => machine.onEvent(({ name }) => name === 'STOP' && resolve()));
      await harness.run(machine, 'dd if=/dev/urandom of=/root/fill bs=64k count=200; sync');
      await stopped;
      const verdict = await verdictOn(machine, spec, { probes: await probe(machine) });
      expect(verdict).toMatchObject({ class: 'io_error', confidence: 'certain', blame: 'host', ended: false });
      expect(verdict.account).toContain("the host's disk is full");
      await driver.destroyInstance(spec.directory);
    } finally {
      await runCommand('umount', ['--lazy', small], { timeoutMs: 10_000 });
    }
  });
});
