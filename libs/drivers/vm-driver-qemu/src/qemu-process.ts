import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import { CleanupStack, withDeadline } from '@inquest/kernel';
import { baseEnvironment, killAndObserve, processIdentity, sendSignal, type ProcessIdentity } from '@inquest/process';
import { BoundedLog, instanceFile, vmDriverError, type BoundedLogOptions, type VmExit } from '@inquest/vm-driver';
import type { MonitorUser } from '@inquest/vm-instance';
import { childOf, KILL_OBSERVE_MS, STDERR_TAIL_BYTES, unkillable, type MonitorProcess } from './monitor-process';
import { READY_FD } from './qemu-arguments';
import { endOfStatus, shellCommand } from './started-through-shell';

/** What is kept of QEMU's error output: a start failure is a few lines, a guest can provoke endless warnings. */
const STDERR_BYTES = 64 * 1024;
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

/** Where QEMU's error output goes. */
export const errorLog = (directory: string): BoundedLogOptions => ({
  headPath: instanceFile(directory, 'stderr'),
  tailPath: instanceFile(directory, 'stderrTail'),
  headBytes: STDERR_BYTES,
  tailBytes: STDERR_BYTES,
});

/** A QEMU that this process has started. */
export class QemuProcess implements MonitorProcess {
  readonly exited: Promise<VmExit>;
  private exit: VmExit | null = null;
  private isReaped = false;
  private qemu: ProcessIdentity | null = null;

  private constructor(
    /** The leader of the group. */
    readonly shell: ProcessIdentity,
    /** The readiness monitor's connection. */
    readonly ready: Duplex,
    private readonly errors: BoundedLog,
    ended: Promise<readonly [code: number | null, signal: string | null]>,
    private readonly reading: Promise<void>,
  ) {
    this.exited = ended.then(([code, signal]) => this.settle(code, signal));
  }

  /** Resolves once the kernel runs its shell. Rejects with `VM_START_FAILED`, `PROCESS_NOT_FOUND` or the system's error; nothing runs then. */
  static async spawn(command: QemuCommand): Promise<QemuProcess> {
    const [file, args] = await shellCommand(command.binary, command.args, command.fileBytes);
    const cleanup = new CleanupStack();
    const errors = await BoundedLog.create(errorLog(command.directory));
    cleanup.defer('error log', () => errors.close());
    try {
      const status = await open(instanceFile(command.directory, 'exitStatus'), 'w', 0o600);
      // Also after a success: the child has its own.
      try {
        return await QemuProcess.own(start(file, args, command, status), errors);
      } finally {
        await status.close();
      }
    } catch (e) {
      await cleanup.run();
      throw e;
    }
  }

  get pid(): number {
    return (this.qemu ?? this.shell).pid;
  }

  get hasExited(): boolean {
    return this.exit !== null;
  }

  /** Finds QEMU itself, which runs by now, and gives both processes, the leader first. */
  async findProcesses(): Promise<readonly ProcessIdentity[]> {
    this.qemu ??= await childOf(this.shell);
    return this.qemu === null ? [this.shell] : [this.shell, this.qemu];
  }

  stderrTail(): string {
    return Buffer.from(this.errors.recent(STDERR_TAIL_BYTES)).toString('utf8');
  }

  async kill(): Promise<VmExit> {
    // Once it was reaped, the pid may be a stranger's.
    if (!this.isReaped) sendSignal(-this.shell.pid, 'SIGKILL');
    try {
      return await withDeadline(this.exited, KILL_OBSERVE_MS, `the end of QEMU process ${this.pid}`);
    } catch (e) {
      throw unkillable(this.pid, e);
    }
  }

  private static async own(child: ChildProcess, errors: BoundedLog): Promise<QemuProcess> {
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
    const shell = (await processIdentity(pid)) ?? { pid, startTicks: -1 };
    return new QemuProcess(shell, ready, errors, ended, reading);
  }

  private async settle(code: number | null, signal: string | null): Promise<VmExit> {
    this.isReaped = true;
    // Its output ends when the last process that could write it is gone.
    await withDeadline(this.reading, DRAIN_MS, 'the error output of QEMU').catch(() => undefined);
    // A shell that was killed has not waited, and QEMU may be alive.
    if (signal !== null) await this.endQemu();
    const atMs = Date.now();
    await this.errors.close();
    const end = code === null ? { code, signal } : endOfStatus(code);
    this.exit = { ...end, stderrTail: this.stderrTail(), atMs };
    return this.exit;
  }

  /** A machine whose QEMU survives this never ends, which is what its callers wait for with a deadline. */
  private async endQemu(): Promise<void> {
    const { qemu } = this;
    // The number of a group is nobody else's while somebody is in it.
    if (qemu === null) return sendSignal(-this.shell.pid, 'SIGKILL');
    for (;;) {
      const how = await killAndObserve(qemu, { graceMs: 0 }).catch(() => null);
      if (how !== null) return;
    }
  }
}

function start(file: string, args: string[], command: QemuCommand, status: FileHandle): ChildProcess {
  const state = command.stateFd ?? 'ignore';
  return spawn(file, args, {
    cwd: instanceFile(command.directory, 'vmm'),
    env: baseEnvironment(),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', state, status.fd],
    ...command.user,
  });
}

async function copyInto(log: BoundedLog, source: Readable): Promise<void> {
  try {
    for await (const chunk of source) await log.append(chunk as Buffer);
  } catch {
    // A broken pipe ends the output; the exit tells the rest.
  }
}
