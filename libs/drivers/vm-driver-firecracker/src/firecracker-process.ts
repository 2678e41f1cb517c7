import { readFile } from 'node:fs/promises';
import { hasCode } from '@inquest/kernel';
import { getExecutable, spawnOwned, type OwnedProcess } from '@inquest/process';
import { instanceFile, vmDriverError, type VmExit, type VmSpec } from '@inquest/vm-driver';
import { firecrackerArguments } from './firecracker-configuration';
import { firecrackerFile } from './firecracker-files';
import type { CompiledFirecrackerOptions } from './firecracker-options';
import { readTail } from './hostile-file';

const STDERR_TAIL_BYTES = 4 * 1024;
const MIB = 1024 * 1024;
/** Keeps the error output apart from the console; the process stays the one that was spawned. */
const SPLIT_ERRORS = 'errors=$1; shift; exec "$@" 2>"$errors"';

/** A running Firecracker, leader of its own process group. */
export class FirecrackerProcess {
  /** Settles once, when the process is gone. Its whole group is killed then. Never rejects. */
  readonly exited: Promise<VmExit>;
  private exit: VmExit | null = null;
  private isReaped = false;

  private constructor(
    readonly owned: OwnedProcess,
    private readonly directory: string,
  ) {
    this.exited = owned.exited.then(async ({ code, signal }) => {
      this.isReaped = true;
      const atMs = Date.now();
      this.exit = { code, signal, stderrTail: await this.stderrTail(), atMs };
      return this.exit;
    });
  }

  /**
   * Resolves once the kernel runs it. Its standard output goes to the console pipe. It gets limits that it hands on: no
   * core dump (it would hold the guest's memory), and no file beyond the larger of disk and memory, which may be a file
   * to the kernel (memfd_create(2)); the log, which a guest may make long, stays below that too. Rejects with
   * `PROCESS_NOT_FOUND` or `PROCESS_FAILED`; nothing runs then.
   */
  static async spawn(
    { directory, memoryMib }: VmSpec,
    { firecrackerBinary, monitorUser }: CompiledFirecrackerOptions,
    diskBytes: number,
  ): Promise<FirecrackerProcess> {
    const [prlimit, firecracker] = await Promise.all([getExecutable('prlimit'), getExecutable(firecrackerBinary)]);
    const limits = ['--core=0', `--fsize=${Math.max(diskBytes, memoryMib * MIB)}`];
    const command = [prlimit, ...limits, firecracker, ...firecrackerArguments(directory)];
    const owned = await spawnOwned({
      file: 'sh',
      args: ['-c', SPLIT_ERRORS, 'sh', firecrackerFile(directory, 'errors'), ...command],
      cwd: instanceFile(directory, 'vmm'),
      logFile: firecrackerFile(directory, 'console'),
      // A service that dies leaves its machines to the next one, which reaps them.
      parentDeathSignal: null,
      stopSignal: 'SIGKILL',
      ...(monitorUser === null ? {} : { user: monitorUser }),
    });
    return new FirecrackerProcess(owned, directory);
  }

  /** True once `exited` has settled. */
  get hasExited(): boolean {
    return this.exit !== null;
  }

  get pid(): number {
    return this.owned.pid;
  }

  /** The end of the error output so far. Hostile text. */
  async stderrTail(): Promise<string> {
    return (await readTail(firecrackerFile(this.directory, 'errors'), STDERR_TAIL_BYTES)).toString('utf8');
  }

  /** Whether its processors are stopped. Null when there is no such process any more. */
  async isStopped(): Promise<boolean | null> {
    if (this.isReaped) return null;
    const stat = await readFile(`/proc/${this.pid}/stat`, 'utf8').catch(() => null);
    // The state is the first field behind the command name, proc(5); the name may hold parentheses.
    const state = stat?.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    return state === undefined || state === 'Z' || state === 'X' ? null : state === 'T';
  }

  /** Sends the group a signal that stops it or lets it go on. False when it is gone. */
  signalGroup(signal: 'SIGSTOP' | 'SIGCONT'): boolean {
    // Once it was reaped, the pid may be a stranger's.
    if (this.isReaped) return false;
    try {
      return process.kill(-this.pid, signal);
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === 'ESRCH') return false;
      throw e;
    }
  }

  /** SIGKILLs the group and waits until the process is observed gone. Idempotent. Rejects with `VM_PROCESS_UNKILLABLE`. */
  async kill(): Promise<VmExit> {
    try {
      await this.owned.stop({ graceMs: 0 });
    } catch (e) {
      if (!hasCode(e, 'PROCESS_UNKILLABLE')) throw e;
      throw vmDriverError(
        'VM_PROCESS_UNKILLABLE',
        `Firecracker process ${this.pid} is still there after SIGKILL`,
        { pid: this.pid },
        e,
      );
    }
    return this.exited;
  }
}
