import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasCode, isDomainError } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import { vmDriverError, type HostCheck } from '@inquest/vm-driver';
import { PROBE_EXIT_CODE, PROBE_EXIT_PORT, probeFirmware } from './probe-firmware';
import type { CompiledQemuOptions } from './qemu-options';

/**
 * Some 50 ms of a real processor. A KVM that is itself emulated, or whose guests only get on while something interrupts
 * them, does not get through in time, although it runs a handful of instructions at once.
 */
const KVM_ITERATIONS = 100_000_000;
const KVM_DEADLINE_MS = 3_000;
/** Emulation needs no measuring, only to work for this user. */
const TCG_ITERATIONS = 1;
const TCG_DEADLINE_MS = 30_000;
/** QEMU's exit code for whatever it finds wrong before a guest runs. */
const QEMU_FAILED = 1;
const REASON_MAX_CHARS = 300;

/**
 * Boots a tiny guest to find out what runs guests here: a /dev/kvm that is there may still hang every guest or make
 * QEMU abort. Promises and errors of `VmDriver.checkHost`.
 */
export async function probeHost(options: CompiledQemuOptions, signal: AbortSignal): Promise<HostCheck> {
  const version = await qemuVersion(options, signal);
  const whyNotKvm = await kvmFault(options, signal);
  if (whyNotKvm === null) return { accelerator: 'kvm', reason: 'a probe guest ran under KVM', version };
  const whyNotTcg = await runProbe(options, signal, {
    machine: ['-accel', 'tcg', '-cpu', 'max'],
    iterations: TCG_ITERATIONS,
    deadlineMs: TCG_DEADLINE_MS,
  });
  if (whyNotTcg === null) return { accelerator: 'tcg', reason: `software emulation, because ${whyNotKvm}`, version };
  throw vmDriverError('VM_HOST_UNSUPPORTED', `${version} cannot run a probe guest: ${whyNotTcg}`);
}

async function qemuVersion({ qemuBinary }: CompiledQemuOptions, signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await runCommand(qemuBinary, ['--version'], { timeoutMs: TCG_DEADLINE_MS, signal });
    return firstLine(stdout);
  } catch (e) {
    if (hasCode(e, 'OPERATION_ABORTED')) throw e;
    throw vmDriverError(
      'VM_HOST_UNSUPPORTED',
      `${qemuBinary} does not run: ${firstLine((e as Error).message)}`,
      { qemuBinary },
      e,
    );
  }
}

async function kvmFault(options: CompiledQemuOptions, signal: AbortSignal): Promise<string | null> {
  const isThere = await stat('/dev/kvm').then(
    () => true,
    () => false,
  );
  if (!isThere) return 'this host has no /dev/kvm';
  const fault = await runProbe(options, signal, {
    machine: ['-accel', 'kvm', '-cpu', 'host'],
    iterations: KVM_ITERATIONS,
    deadlineMs: KVM_DEADLINE_MS,
  });
  return fault === null ? null : `/dev/kvm is there but does not run guests: ${fault}`;
}

interface Probe {
  readonly machine: readonly string[];
  readonly iterations: number;
  readonly deadlineMs: number;
}

/** Null when the guest ran to its end, else what went wrong, in one line. */
async function runProbe(options: CompiledQemuOptions, signal: AbortSignal, probe: Probe): Promise<string | null> {
  const directory = await mkdtemp(path.join(tmpdir(), 'inquest-probe-'));
  try {
    await chmod(directory, 0o711);
    const firmware = path.join(directory, 'firmware.bin');
    await writeFile(firmware, probeFirmware(probe.iterations), { mode: 0o444 });
    const args = [
      ...probe.machine,
      ...['-machine', 'q35', '-m', '16', '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
      ...['-bios', firmware, '-device', `isa-debug-exit,iobase=${PROBE_EXIT_PORT},iosize=1`],
    ];
    const { exitCode, stderr } = await runCommand(options.qemuBinary, args, {
      timeoutMs: probe.deadlineMs,
      signal,
      acceptExitCodes: [PROBE_EXIT_CODE, QEMU_FAILED],
      ...(options.qemuUser === null ? {} : { user: options.qemuUser }),
    });
    return exitCode === PROBE_EXIT_CODE ? null : firstLine(stderr);
  } catch (e) {
    if (hasCode(e, 'PROCESS_TIMEOUT')) return `a probe guest hung for ${probe.deadlineMs} ms`;
    if (isDomainError(e) && e.code === 'PROCESS_FAILED')
      return `QEMU died of ${e.details['signal'] ?? 'a start failure'}`;
    throw e;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, REASON_MAX_CHARS);
