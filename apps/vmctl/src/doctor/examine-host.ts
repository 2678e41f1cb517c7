import { statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import path from 'node:path';
import { deadlineSignal, isDomainError } from '@inquest/kernel';
import { findExecutable } from '@inquest/process';
import { alternativeDriver, hostDriver } from './host-driver.module';

/** One thing that was looked at on this host. */
export interface HostFinding {
  readonly what: string;
  /** `missing` keeps machines from running; `warning` makes them slower or fewer. */
  readonly outcome: 'ok' | 'warning' | 'missing';
  readonly detail: string;
  /** The command or change that mends it; null when nothing has to be mended. */
  readonly remedy: string | null;
}

/** Programs the platform starts, with the Debian package that has each. */
const PROGRAMS: readonly (readonly [program: string, debianPackage: string])[] = [
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['qemu-img', 'qemu-utils'],
  ['nats-server', 'nats-server'],
  ['git', 'git'],
  ['go', 'golang-go'],
  ['mke2fs', 'e2fsprogs'],
  ['cpio', 'cpio'],
  ['xz', 'xz-utils'],
  ['setpriv', 'util-linux'],
];

/** `mke2fs` and its like are not in everybody's PATH. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** One small machine, the services and the database. */
const NEEDED_MEMORY_MIB = 1024;
/** Kernel packages, a database cluster, an image and a few overlays. */
const NEEDED_DISK_GIB = 3;
const ACCELERATOR_PROBE_MS = 60_000;

/** Everything `vmctl doctor` says. Starts nothing but the accelerator probe, which it also ends. */
export async function examineHost(home: string, signal: AbortSignal): Promise<readonly HostFinding[]> {
  const programs = await Promise.all(
    PROGRAMS.map(([program, debianPackage]) => examineProgram(program, debianPackage)),
  );
  return [
    ...programs,
    examineMemory(),
    await examineDisk(home),
    await examineAccelerator(home, signal),
    await examineFirecracker(home, signal),
  ];
}

async function examineProgram(program: string, debianPackage: string): Promise<HostFinding> {
  const found = await findExecutable(program, SYSTEM_PATH);
  if (found !== null) return { what: program, outcome: 'ok', detail: found, remedy: null };
  return { what: program, outcome: 'missing', detail: 'not found', remedy: `apt-get install ${debianPackage}` };
}

function examineMemory(): HostFinding {
  const [free, total] = [Math.floor(freemem() / MIB), Math.floor(totalmem() / MIB)];
  const detail = `${free} MiB free of ${total} MiB`;
  if (free >= NEEDED_MEMORY_MIB) return { what: 'memory', outcome: 'ok', detail, remedy: null };
  return {
    what: 'memory',
    outcome: 'warning',
    detail,
    remedy: `${NEEDED_MEMORY_MIB} MiB free are wanted for one machine and the services`,
  };
}

async function examineDisk(home: string): Promise<HostFinding> {
  const directory = await nearestExisting(home);
  const { bavail, bsize } = await statfs(directory);
  const free = (bavail * bsize) / GIB;
  const detail = `${free.toFixed(1)} GiB free at ${directory}`;
  if (free >= NEEDED_DISK_GIB) return { what: 'disk', outcome: 'ok', detail, remedy: null };
  return {
    what: 'disk',
    outcome: 'warning',
    detail,
    remedy: `free ${NEEDED_DISK_GIB} GiB, or set INQUEST_HOME to another disk`,
  };
}

async function nearestExisting(directory: string): Promise<string> {
  try {
    await statfs(directory);
    return directory;
  } catch {
    return nearestExisting(path.dirname(directory));
  }
}

async function examineAccelerator(home: string, signal: AbortSignal): Promise<HostFinding> {
  try {
    const driver = hostDriver(path.join(home, 'machines'));
    const { accelerator, reason } = await driver.checkHost(deadlineSignal(ACCELERATOR_PROBE_MS, signal));
    const outcome = accelerator === 'kvm' ? 'ok' : 'warning';
    return { what: 'accelerator', outcome, detail: `${accelerator}: ${reason}`, remedy: null };
  } catch (e) {
    if (!isDomainError(e)) throw e;
    return { what: 'accelerator', outcome: 'missing', detail: e.message, remedy: e.remediation };
  }
}

/** Firecracker is a choice (INQUEST_VM_DRIVER): a host that cannot run it lacks nothing. */
async function examineFirecracker(home: string, signal: AbortSignal): Promise<HostFinding> {
  try {
    const driver = alternativeDriver(path.join(home, 'machines'));
    const { version } = await driver.checkHost(deadlineSignal(ACCELERATOR_PROBE_MS, signal));
    return { what: 'firecracker', outcome: 'ok', detail: `${version} can run machines here`, remedy: null };
  } catch (e) {
    if (!isDomainError(e)) throw e;
    return {
      what: 'firecracker',
      outcome: 'ok',
      detail: `optional, cannot run machines here: ${e.message}`,
      remedy: null,
    };
  }
}
