import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { isDomainError } from '@inquest/kernel';
import { getExecutable, isAlive, killAndObserve, spawnOwned, type OwnedProcess } from '@inquest/process';
import { readTail, untilFile } from './durable-file';
import { stackError } from './errors';
import { endLeftovers, type EndedProcess } from './home-processes';
import type { StackDeclaration } from './service-declaration';
import { logFilePath, stackLayout, type StackLayout } from './stack-layout';
import { parseStackState, readStackState, type ServiceStatus, type StackState } from './stack-state';
import { removeRunFiles } from './supervisor';

export interface StartStackOptions {
  readonly home: string;
  readonly declaration: StackDeclaration;
  /** Called with each state that the supervisor records until the stack is up. */
  readonly onProgress?: (state: StackState) => void;
  /** Stops what was started so far; `startStack` then rejects with `OPERATION_ABORTED`. */
  readonly signal?: AbortSignal;
  /** Default ten minutes: a first start on a slow machine makes a database cluster and runs all migrations. */
  readonly timeoutMs?: number;
}

export interface StopReport {
  /** False when there was nothing to stop. */
  readonly wasUp: boolean;
  /** What the supervisor did not end itself. Empty after an orderly stop. */
  readonly leftovers: readonly EndedProcess[];
}

export interface StackStatus {
  /** The supervisor runs and says that every part was started. */
  readonly isUp: boolean;
  /** False with a `state`: the supervisor was killed; `stopStack` clears up. */
  readonly isSupervised: boolean;
  readonly state: StackState | null;
  readonly services: readonly (ServiceStatus & { readonly isAlive: boolean })[];
}

/** flock(1) ends with this code when somebody else holds the lock. */
const LOCK_HELD_EXIT_CODE = 75;
const START_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 120_000;
const LEFTOVER_GRACE_MS = 5_000;
const LOG_TAIL_BYTES = 1_500;

/**
 * Starts the stack of a home in the background and waits until every part is ready. It outlives this process. After a
 * rejection nothing runs, except with `STACK_ALREADY_UP`: the stack that was up before is left alone. Other errors:
 * `STACK_START_FAILED`, `STACK_HOME_UNREACHABLE`, `PROCESS_NOT_FOUND`, `DEADLINE_EXCEEDED`, `OPERATION_ABORTED`.
 */
export async function startStack(options: StartStackOptions): Promise<StackState> {
  const layout = stackLayout(options.home);
  await makeDirectories(layout);
  const supervisor = await spawnSupervisor(layout, options.declaration).catch(async (e: unknown) => {
    const isLockHeld = isDomainError(e) && e.details['exitCode'] === LOCK_HELD_EXIT_CODE;
    throw isLockHeld ? alreadyUp(layout, await readStackState(layout)) : e;
  });
  try {
    const state = await untilStarted(layout, supervisor, options);
    if (state.state === 'running') return state;
    throw stackError('STACK_START_FAILED', state.failure ?? 'the supervisor stopped', {});
  } catch (e) {
    const exit = await supervisor.stop({ graceMs: STOP_TIMEOUT_MS });
    if (exit.code === LOCK_HELD_EXIT_CODE) throw alreadyUp(layout, await readStackState(layout));
    await endLeftovers(layout, LEFTOVER_GRACE_MS);
    await removeRunFiles(layout);
    throw e;
  } finally {
    supervisor.unref();
  }
}

/**
 * Stops the stack of a home and returns once every process of it was seen gone, also when its supervisor had been
 * killed. Its data stays; the disks of its machines, which have ended, do not. Throws `PROCESS_UNKILLABLE` or `STACK_STATE_INVALID`.
 */
export async function stopStack(home: string): Promise<StopReport> {
  const layout = stackLayout(home);
  const state = await readStackState(layout);
  if (state !== null) await killAndObserve(state.supervisor, { graceMs: STOP_TIMEOUT_MS });
  const leftovers = await endLeftovers(layout, LEFTOVER_GRACE_MS);
  await removeRunFiles(layout);
  return { wasUp: state !== null || leftovers.length > 0, leftovers };
}

/** What runs now, checked against the kernel and not only read from the record. Throws `STACK_STATE_INVALID`. */
export async function stackStatus(home: string): Promise<StackStatus> {
  const state = await readStackState(stackLayout(home));
  if (state === null) return { isUp: false, isSupervised: false, state, services: [] };
  const isSupervised = await isAlive(state.supervisor);
  const services = await Promise.all(
    state.services.map(async (service) => ({
      ...service,
      isAlive: service.process !== null && (await isAlive(service.process)),
    })),
  );
  return { isUp: isSupervised && state.state === 'running', isSupervised, state, services };
}

async function makeDirectories(layout: StackLayout): Promise<void> {
  // Postgres and QEMU run unprivileged: they must be able to pass, not to list.
  for (const directory of [layout.home, layout.postgres, layout.images, layout.machines]) {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o711);
  }
  const { run, logs, nats, evidence, transcripts, projects, forge } = layout;
  for (const directory of [run, logs, nats, evidence, transcripts, projects, forge]) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}

/** The lock is the kernel's: it goes with the supervisor, however that ends, and cannot be left behind. */
async function spawnSupervisor(layout: StackLayout, declaration: StackDeclaration): Promise<OwnedProcess> {
  const flockArgs = ['--no-fork', '--nonblock', '--conflict-exit-code', String(LOCK_HELD_EXIT_CODE), layout.lock];
  // Looked up here, so that a missing program is named by its own name and not by that of flock.
  await getExecutable('setpriv');
  return spawnOwned({
    file: 'flock',
    args: [...flockArgs, process.execPath, supervisorMain(), layout.home],
    logFile: logFilePath(layout, 'supervisor'),
    parentDeathSignal: null,
    input: JSON.stringify(declaration),
    cwd: '/',
  });
}

/** Compiled beside this file; from the sources (under Jest) it is in dist. */
const supervisorMain = (): string =>
  path.join(path.basename(__dirname) === 'src' ? path.join(__dirname, '..', 'dist') : __dirname, 'supervisor.main.js');

/** The state that this supervisor records once it is running or failed. */
async function untilStarted(
  layout: StackLayout,
  supervisor: OwnedProcess,
  { onProgress, signal, timeoutMs = START_TIMEOUT_MS }: StartStackOptions,
): Promise<StackState> {
  const ended = new AbortController();
  void supervisor.exited.then(() => ended.abort());
  let seen = '';
  const accept = (text: string | null): StackState | null => {
    if (text === null || text === seen) return null;
    seen = text;
    const state = parseStackState(text, layout.state);
    if (state.supervisor.pid !== supervisor.pid) return null;
    onProgress?.(state);
    return state.state === 'running' || state.state === 'failed' ? state : null;
  };
  try {
    const signals = signal ? [signal, ended.signal] : [ended.signal];
    return await untilFile(layout.state, accept, { timeoutMs, signal: AbortSignal.any(signals) });
  } catch (e) {
    if (!ended.signal.aborted || signal?.aborted) throw e;
    // It may have recorded why it failed between the last look and its end.
    const recorded = await readStackState(layout);
    if (recorded?.supervisor.pid === supervisor.pid) return recorded;
    throw await endedAtOnce(layout, supervisor);
  }
}

async function endedAtOnce(layout: StackLayout, supervisor: OwnedProcess): Promise<Error> {
  const { code, signal } = await supervisor.exited;
  const logFile = logFilePath(layout, 'supervisor');
  const tail = await readTail(logFile, LOG_TAIL_BYTES);
  return stackError('STACK_START_FAILED', `the supervisor ended with ${code ?? signal}: ${tail}`, { logFile });
}

function alreadyUp(layout: StackLayout, state: StackState | null): Error {
  const where = state?.gatewayUrl ? ` at ${state.gatewayUrl}` : '';
  return stackError('STACK_ALREADY_UP', `the stack of ${layout.home} is ${state?.state ?? 'starting'}${where}`, {
    home: layout.home,
  });
}
