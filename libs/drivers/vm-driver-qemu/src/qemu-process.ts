import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { withDeadline } from '@inquest/kernel';
import { baseEnvironment, getExecutable, processIdentity, type ProcessIdentity } from '@inquest/process';
import { BoundedLog, instanceFile, vmDriverError, type VmExit } from '@inquest/vm-driver';
import type { MonitorUser } from '@inquest/vm-instance';
import { READY_FD } from './qemu-arguments';

/** What is kept of QEMU's error output: a start failure is a few lines, a guest can provoke endless warnings. */
const STDERR_BYTES = 64 * 1024;
const STDERR_TAIL_BYTES = 4 * 1024;
/** A killed QEMU is gone in 20 ms; freeing a large guest's memory on a crowded host takes seconds. */
const KILL_OBSERVE_MS = 20_000;
/** Output that is still in the pipe when the process is gone arrives at once. */
const DRAIN_MS = 2_000;

/** How to start QEMU. */
export interface QemuCommand {
  readonly binary: string;
  readonly args: readonly string[];
  /** Instance directory. */
  readonly directory: string;
  readonly user: MonitorUser | null;
  /** Bound on every file that QEMU writes, in bytes. */
  readonly fileBytes: number | null;
  /** Descriptor of ours that QEMU gets as `STATE_FD`; may be closed once it was spawned. Null = none. */
  readonly stateFd: number | null;
}

/** A running QEMU, leader of its own process group. */
export class QemuProcess {
  /** Settles once, when the process is gone and its error output is on disk. Never rejects. */
  readonly exited: Promise<VmExit>;
  private exit: VmExit | null = null;
  private isReaped = false;

  private constructor(
    readonly identity: ProcessIdentity,
    /** The readiness monitor's connection. */
    readonly ready: Duplex,
    private readonly errors: BoundedLog,
    ended: Promise<readonly [code: number | null, signal: string | null]>,
    reading: Promise<void>,
  ) {
    this.exited = ended.then(async ([code, signal]) => {
      this.isReaped = true;
      const atMs = Date.now();
      await withDeadline(reading, DRAIN_MS, 'the error output of QEMU').catch(() => undefined);
      await errors.close();
      this.exit = { code, signal, stderrTail: this.stderrTail(), atMs };
      return this.exit;
    });
  }

  /** Resolves once the kernel runs it. Rejects with `VM_START_FAILED`, `PROCESS_NOT_FOUND` or the system's error; nothing runs then. */
  static async spawn(command: QemuCommand): Promise<QemuProcess> {
    const [file, args] = await boundedCommand(command);
    const errors = await BoundedLog.create({
      headPath: instanceFile(command.directory, 'stderr'),
      tailPath: instanceFile(command.directory, 'stderrTail'),
      headBytes: STDERR_BYTES,
      tailBytes: STDERR_BYTES,
    });
    try {
      const child = spawn(file, args, {
        cwd: instanceFile(command.directory, 'vmm'),
        env: baseEnvironment(),
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(command.stateFd === null ? [] : [command.stateFd])],
        ...command.user,
      });
      return await QemuProcess.adopt(child, errors);
    } catch (e) {
      await errors.close();
      throw e;
    }
  }

  /** True once `exited` has settled. */
  get hasExited(): boolean {
    return this.exit !== null;
  }

  /** The end of the error output so far. Hostile text. */
  stderrTail(): string {
    return Buffer.from(this.errors.recent(STDERR_TAIL_BYTES)).toString('utf8');
  }

  /**
   * SIGKILLs the process group and waits until the process is observed gone. Killing a dead process succeeds. Rejects with
   * `VM_PROCESS_UNKILLABLE`.
   */
  async kill(): Promise<VmExit> {
    const { pid } = this.identity;
    // Once it was reaped, the pid may be a stranger's.
    if (!this.isReaped) killGroup(pid);
    try {
      return await withDeadline(this.exited, KILL_OBSERVE_MS, `the end of QEMU process ${pid}`);
    } catch (e) {
      throw vmDriverError(
        'VM_PROCESS_UNKILLABLE',
        `QEMU process ${pid} is still there ${KILL_OBSERVE_MS} ms after SIGKILL`,
        { pid },
        e,
      );
    }
  }

  private static async adopt(child: ChildProcess, errors: BoundedLog): Promise<QemuProcess> {
    const ended = new Promise<readonly [number | null, string | null]>((resolve) => {
      child.once('exit', (code, signal) => resolve([code, signal]));
    });
    await once(child, 'spawn').catch((e: unknown) => {
      throw vmDriverError('VM_START_FAILED', `QEMU could not be started: ${(e as Error).message}`, {}, e);
    });
    const reading = copyInto(errors, child.stderr as Readable);
    const ready = child.stdio[READY_FD] as Duplex;
    // What is wrong with this connection shows in the exchange on it.
    ready.on('error', () => undefined);
    const pid = child.pid as number;
    // An immediate death still has its identity: the zombie is ours until 'exit' is handled. -1 matches no process.
    const identity = (await processIdentity(pid)) ?? { pid, startTicks: -1 };
    return new QemuProcess(identity, ready, errors, ended, reading);
  }
}

/**
 * Wraps QEMU in limits that it inherits: no core dump (it would hold the guest's memory), and no file beyond the bound; with
 * SIGXFSZ ignored a write beyond it fails like one on a full disk, which pauses the machine instead of killing it.
 */
async function boundedCommand({ binary, args, fileBytes }: QemuCommand): Promise<[string, string[]]> {
  const [prlimit, env, qemu] = await Promise.all([
    getExecutable('prlimit'),
    getExecutable('env'),
    getExecutable(binary),
  ]);
  const limits = ['--core=0', ...(fileBytes === null ? [] : [`--fsize=${fileBytes}`])];
  return [prlimit, [...limits, env, '--ignore-signal=XFSZ', qemu, ...args]];
}

async function copyInto(log: BoundedLog, source: Readable): Promise<void> {
  try {
    for await (const chunk of source) await log.append(chunk as Buffer);
  } catch {
    // A broken pipe ends the output; the exit tells the rest.
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ESRCH') throw e;
  }
}
