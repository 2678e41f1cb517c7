import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasCode, isDomainError } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import { vmDriverError, type HostCheck } from '@inquest/vm-driver';
import type { FirecrackerConfiguration } from './firecracker-configuration';
import type { CompiledFirecrackerOptions } from './firecracker-options';
import { probeKernel } from './probe-kernel';

/**
 * Some 50 ms of a real processor. A KVM that is itself emulated, or whose guests only get on while something interrupts
 * them, does not get through in time, although it runs a handful of instructions at once.
 */
const PROBE_ITERATIONS = 100_000_000;
const PROBE_DEADLINE_MS = 10_000;
const PROBE_MEMORY_MIB = 128;
const VERSION_DEADLINE_MS = 30_000;
/** FcExitCode of Firecracker: an error before the guest ran is 1; 148 to 157 are a fault of the host or a signal. */
const EXIT_CODES = [0, 1, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157];
const REASON_MAX_CHARS = 300;
/** What Firecracker prints of itself, also when it was built from a commit between two releases. */
const GENUINE_VERSION = /^Firecracker v\d+\.\d+\.\d+(?:-[\w.+-]+)?$/;

/**
 * Boots a tiny guest to find out whether Firecracker runs guests here: a /dev/kvm that is there may still hang every
 * guest. Promises and errors of `VmDriver.checkHost`. Firecracker has no emulation to fall back on.
 */
export async function probeHost(options: CompiledFirecrackerOptions, signal: AbortSignal): Promise<HostCheck> {
  const version = await firecrackerVersion(options, signal);
  const fault = await runProbe(options, signal);
  if (fault === null) return { ...acceleratorOf(version), version };
  throw vmDriverError('VM_HOST_UNSUPPORTED', `${version} cannot run a probe guest: ${fault}`);
}

/** Firecracker itself runs guests under KVM and nothing else; of another program with its arguments nothing is known. */
function acceleratorOf(version: string): Pick<HostCheck, 'accelerator' | 'reason'> {
  if (GENUINE_VERSION.test(version)) return { accelerator: 'kvm', reason: 'a probe guest ran under Firecracker' };
  return { accelerator: 'tcg', reason: `a probe guest ran, but not under Firecracker itself: ${version}` };
}

async function firecrackerVersion(
  { firecrackerBinary }: CompiledFirecrackerOptions,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { stdout } = await runCommand(firecrackerBinary, ['--version'], { timeoutMs: VERSION_DEADLINE_MS, signal });
    return firstLine(stdout);
  } catch (e) {
    if (hasCode(e, 'OPERATION_ABORTED')) throw e;
    throw vmDriverError(
      'VM_HOST_UNSUPPORTED',
      `${firecrackerBinary} does not run: ${firstLine((e as Error).message)}`,
      { firecrackerBinary },
      e,
    );
  }
}

/** Null when the guest ran to its end, else what went wrong, in one line. */
async function runProbe(options: CompiledFirecrackerOptions, signal: AbortSignal): Promise<string | null> {
  const directory = await mkdtemp(path.join(tmpdir(), 'inquest-probe-'));
  try {
    await chmod(directory, 0o711);
    const { exitCode, stderr } = await runCommand(options.firecrackerBinary, await probeArguments(directory), {
      timeoutMs: PROBE_DEADLINE_MS,
      signal,
      acceptExitCodes: EXIT_CODES,
      ...(options.monitorUser === null ? {} : { user: options.monitorUser }),
    });
    return exitCode === 0 ? null : firstLine(stderr) || `Firecracker ended with status ${exitCode}`;
  } catch (e) {
    if (hasCode(e, 'PROCESS_TIMEOUT')) return `a probe guest hung for ${PROBE_DEADLINE_MS} ms`;
    if (isDomainError(e) && e.code === 'PROCESS_FAILED')
      return `Firecracker died of ${e.details['signal'] ?? 'a start failure'}`;
    throw e;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function probeArguments(directory: string): Promise<string[]> {
  const kernel = path.join(directory, 'vmlinux');
  const configuration = path.join(directory, 'firecracker.json');
  const content: FirecrackerConfiguration = {
    'boot-source': { kernel_image_path: kernel, boot_args: 'reboot=k' },
    drives: [],
    'machine-config': { vcpu_count: 1, mem_size_mib: PROBE_MEMORY_MIB },
  };
  await writeFile(kernel, probeKernel(PROBE_ITERATIONS), { mode: 0o444 });
  await writeFile(configuration, JSON.stringify(content), { mode: 0o444 });
  return ['--no-api', '--config-file', configuration, '--level', 'Error'];
}

const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, REASON_MAX_CHARS);
