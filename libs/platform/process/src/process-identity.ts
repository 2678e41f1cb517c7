import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { processError } from './errors';

/** One life of one process. A pid alone is not enough: the kernel gives it to somebody else later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in clock ticks after boot: field 22 of /proc/<pid>/stat, proc(5). */
  readonly startTicks: number;
}

/** How a process that somebody else may own was ended. */
export type EndedHow = 'already-gone' | 'ended' | 'killed';

/** Longest wait for the kernel to take a process away after SIGKILL. */
const KILL_OBSERVE_MS = 10_000;
const POLL_MS = 20;

interface ProcStat {
  readonly state: string;
  readonly processGroup: number;
  readonly startTicks: number;
}

/** Parses /proc/<pid>/stat. The command name (field 2) may hold spaces and parentheses, so fields count from its last ")". */
export function parseProcStat(text: string): ProcStat | null {
  const fields = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(' ');
  const [state, , processGroup] = fields;
  const startTicks = Number(fields[22 - 3]);
  if (state === undefined || fields.length < 20 || !Number.isSafeInteger(startTicks)) return null;
  return { state, processGroup: Number(processGroup), startTicks };
}

/** Who `pid` is right now; null when there is no such process, or only its zombie. */
export async function processIdentity(pid: number): Promise<ProcessIdentity | null> {
  const found = await readProcStat(pid);
  return found === null ? null : { pid, startTicks: found.startTicks };
}

/** Whether exactly this process still runs; false for a zombie and for a stranger that got its pid. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await processIdentity(identity.pid))?.startTicks === identity.startTicks;
}

/**
 * Ends exactly this process, whoever started it, and returns once it was seen gone: SIGTERM, `graceMs` later SIGKILL
 * (also to its process group when it leads one). Never touches a stranger that got its pid.
 * Throws `PROCESS_UNKILLABLE` when it survives SIGKILL.
 */
export async function killAndObserve(
  identity: ProcessIdentity,
  options: { readonly graceMs: number; readonly stopSignal?: NodeJS.Signals },
): Promise<EndedHow> {
  if (!(await isAlive(identity))) return 'already-gone';
  if (options.graceMs > 0) {
    sendSignal(identity.pid, options.stopSignal ?? 'SIGTERM');
    if (await observeGone(identity, options.graceMs)) return 'ended';
  }
  const found = await readProcStat(identity.pid);
  if (found?.startTicks !== identity.startTicks) return 'ended';
  sendSignal(found.processGroup === identity.pid ? -identity.pid : identity.pid, 'SIGKILL');
  if (await observeGone(identity, KILL_OBSERVE_MS)) return 'killed';
  throw processError(
    'PROCESS_UNKILLABLE',
    `process ${identity.pid} is still there ${KILL_OBSERVE_MS} ms after SIGKILL`,
    {
      pid: identity.pid,
    },
  );
}

/** Resolves to true once the process is gone, to false when it still runs after `timeoutMs`. Works on processes that are not our children. */
export async function observeGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (await isAlive(identity)) {
    if (performance.now() >= end) return false;
    // Only a parent is told of a death; for anybody else's process /proc has to be looked at again.
    await sleep(POLL_MS);
  }
  return true;
}

/**
 * Sends a signal to a process or, with a negative pid, to a group. One that is gone (ESRCH) is no error, nor is one that
 * became somebody else's (EPERM): callers see by its staying that it was not ended.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (e) {
    if (!hasErrno(e, 'ESRCH') && !hasErrno(e, 'EPERM')) throw e;
  }
}

async function readProcStat(pid: number): Promise<ProcStat | null> {
  try {
    const found = parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
    return found === null || found.state === 'Z' || found.state === 'X' ? null : found;
  } catch (e) {
    // ESRCH: it went away between open and read.
    if (hasErrno(e, 'ENOENT') || hasErrno(e, 'ESRCH')) return null;
    throw e;
  }
}

const hasErrno = (e: unknown, code: string): boolean => (e as NodeJS.ErrnoException).code === code;
