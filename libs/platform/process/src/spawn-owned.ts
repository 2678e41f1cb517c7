import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { withDeadline } from '@inquest/kernel';
import { describeCommand } from './command-end';
import { baseEnvironment, type Environment } from './environment';
import { processError } from './errors';
import { getExecutable } from './find-executable';
import { openLog } from './log-file';
import { processIdentity, sendSignal, type ProcessIdentity } from './process-identity';
import type { ProcessUser } from './run-command';

export interface SpawnOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Added to `baseEnvironment()`; nothing else is inherited. */
  readonly env?: Environment;
  /**
   * Gets standard output and standard error, appended; made with mode 0600. One that grew past 16 MiB is renamed to
   * `<logFile>.1` first; `boundLog` bounds it while the process runs. Null: both are discarded.
   */
  readonly logFile: string | null;
  /** Sent by the kernel when this process dies, however it dies. Null: the child outlives this process. Default SIGTERM. */
  readonly parentDeathSignal?: NodeJS.Signals | null;
  /** What `stop` sends first. Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** Written to standard input, which is then closed: the way to hand over a secret. */
  readonly input?: string;
  readonly user?: ProcessUser;
}

/** How a process ended: exactly one of the two is set. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A long-running child in a process group of its own. */
export interface OwnedProcess extends ProcessIdentity {
  /** Settles exactly once, whoever ended it. Never rejects. Its whole group is killed then. */
  readonly exited: Promise<ProcessExit>;
  /**
   * Sends the stop signal to the process, and SIGKILL to its group `graceMs` later; resolves once it was seen gone.
   * Stopping a stopped process succeeds. Throws `PROCESS_UNKILLABLE`.
   */
  stop(options: { readonly graceMs: number }): Promise<ProcessExit>;
  /** Lets this process exit while the child runs on. For a child started with `parentDeathSignal: null`. */
  unref(): void;
}

const KILL_OBSERVE_MS = 10_000;

/**
 * Starts a program that runs until it is stopped. Resolves once the kernel executes it, not once it is ready.
 * Throws `PROCESS_NOT_FOUND` or `PROCESS_FAILED`; nothing runs after a rejection.
 */
export async function spawnOwned(options: SpawnOptions): Promise<OwnedProcess> {
  const env = { ...baseEnvironment(), ...options.env };
  const executable = await getExecutable(options.file, env['PATH']);
  const { parentDeathSignal = 'SIGTERM' } = options;
  const [file, args] =
    parentDeathSignal === null
      ? [executable, options.args]
      : await boundToParent(parentDeathSignal, [executable, ...options.args]);
  const log = options.logFile === null ? null : await openLog(options.logFile);
  try {
    const child = spawn(file, args, {
      env,
      detached: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', log?.fd ?? 'ignore', log?.fd ?? 'ignore'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.user,
    });
    return await own(child, options);
  } finally {
    await log?.close();
  }
}

async function own(child: ChildProcess, options: SpawnOptions): Promise<OwnedProcess> {
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      resolve({ code, signal });
    });
  });
  const shown = describeCommand(options.file, options.args);
  try {
    await once(child, 'spawn');
  } catch (e) {
    throw processError('PROCESS_FAILED', `${shown} could not be started`, {}, e);
  }
  const pid = child.pid;
  const identity = pid === undefined ? null : await processIdentity(pid);
  if (pid === undefined || identity === null) {
    const { code, signal } = await exited;
    throw processError('PROCESS_FAILED', `${shown} ended at once with ${code ?? signal}`, { exitCode: code, signal });
  }
  // A child that died before it read its input breaks the pipe; `exited` tells.
  child.stdin?.on('error', () => undefined).end(options.input);
  return {
    ...identity,
    exited,
    unref: () => child.unref(),
    stop: ({ graceMs }) => stopChild(child, pid, exited, { graceMs, stopSignal: options.stopSignal ?? 'SIGTERM' }),
  };
}

async function stopChild(
  child: ChildProcess,
  pid: number,
  exited: Promise<ProcessExit>,
  { graceMs, stopSignal }: { readonly graceMs: number; readonly stopSignal: NodeJS.Signals },
): Promise<ProcessExit> {
  // Its pid may be somebody else's by now.
  if (child.exitCode !== null || child.signalCode !== null) return exited;
  sendSignal(pid, stopSignal);
  try {
    return await withDeadline(exited, graceMs, `process ${pid}`);
  } catch {
    sendSignal(-pid, 'SIGKILL');
  }
  try {
    return await withDeadline(exited, KILL_OBSERVE_MS, `the end of process ${pid}`);
  } catch (e) {
    throw processError('PROCESS_UNKILLABLE', `process ${pid} is still there after SIGKILL`, { pid }, e);
  }
}

/**
 * The command, so that it gets the signal when this process dies. A parent that dies before the signal is asked for never
 * causes it (prctl(2), PR_SET_PDEATHSIG), so the command only runs while the parent is still this process.
 */
async function boundToParent(signal: NodeJS.Signals, command: readonly string[]): Promise<[string, readonly string[]]> {
  const [setpriv, shell] = await Promise.all([getExecutable('setpriv'), getExecutable('sh')]);
  const ifParentLives = [shell, '-c', `[ "$PPID" = ${process.pid} ] && exec "$@"`, 'sh'];
  return [setpriv, ['--pdeathsig', withoutPrefix(signal), '--', ...ifParentLives, ...command]];
}

/** setpriv(1) wants signal names without SIG. */
const withoutPrefix = (signal: NodeJS.Signals): string => signal.replace(/^SIG/, '');
