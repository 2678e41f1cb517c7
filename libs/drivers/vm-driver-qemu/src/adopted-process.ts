import { readFile } from 'node:fs/promises';
import { delay, withDeadline } from '@inquest/kernel';
import { isAlive, killAndObserve, observeGone, type ProcessIdentity } from '@inquest/process';
import { instanceFile, type VmExit } from '@inquest/vm-driver';
import { KILL_OBSERVE_MS, STDERR_TAIL_BYTES, unkillable, type MonitorProcess } from './monitor-process';
import { readExitStatus } from './started-through-shell';

/** Between two looks at a process of which nothing else tells that it is gone. */
const LOOK_EVERY_MS = 500;
/** QEMU's connections close a moment before it is gone, and its shell reports a moment later. */
const DEATH_MS = 5_000;

/** What is known of the processes of an instance. */
export interface AdoptedProcesses {
  /** Null when it is gone: nobody will learn then how QEMU ends. */
  readonly shell: ProcessIdentity | null;
  readonly qemu: ProcessIdentity;
}

/** A QEMU that an earlier process has started. Its error output from then on is nobody's. */
export class AdoptedProcess implements MonitorProcess {
  readonly exited: Promise<VmExit>;
  private exit: VmExit | null = null;
  private isKilled = false;

  private constructor(
    private readonly directory: string,
    private readonly processes: AdoptedProcesses,
    private readonly words: string,
    /** Settles when a connection to QEMU has closed, which is mostly, but not surely, its end. */
    connectionClosed: Promise<void>,
  ) {
    this.exited = this.observe(connectionClosed);
  }

  static async of(
    directory: string,
    processes: AdoptedProcesses,
    connectionClosed: Promise<void>,
  ): Promise<AdoptedProcess> {
    return new AdoptedProcess(directory, processes, await readErrorTail(directory), connectionClosed);
  }

  get pid(): number {
    return this.processes.qemu.pid;
  }

  get hasExited(): boolean {
    return this.exit !== null;
  }

  stderrTail(): string {
    return this.words;
  }

  async kill(): Promise<VmExit> {
    const { shell, qemu } = this.processes;
    this.isKilled = true;
    try {
      // The shell leads the group, and goes with it.
      if (shell !== null) await killAndObserve(shell, { graceMs: 0 });
      await killAndObserve(qemu, { graceMs: 0 });
      return await withDeadline(this.exited, KILL_OBSERVE_MS, `the end of QEMU process ${qemu.pid}`);
    } catch (e) {
      throw unkillable(qemu.pid, e);
    }
  }

  private async observe(connectionClosed: Promise<void>): Promise<VmExit> {
    const { shell, qemu } = this.processes;
    const closed = new AbortController();
    void connectionClosed.then(() => closed.abort());
    // Only a parent is told of a death.
    while (await isAlive(qemu)) {
      if (closed.signal.aborted && (await observeGone(qemu, DEATH_MS))) break;
      await delay(LOOK_EVERY_MS, closed.signal.aborted ? undefined : closed.signal).catch(() => undefined);
    }
    if (shell !== null) await observeGone(shell, DEATH_MS);
    const reported = await readExitStatus(this.directory);
    const unreported = { code: null, signal: this.isKilled ? 'SIGKILL' : null, atMs: Date.now() };
    this.exit = { ...(reported ?? unreported), stderrTail: this.words };
    return this.exit;
  }
}

async function readErrorTail(directory: string): Promise<string> {
  const files = (['stderr', 'stderrTail'] as const).map((file) =>
    readFile(instanceFile(directory, file)).catch(() => Buffer.alloc(0)),
  );
  const all = Buffer.concat(await Promise.all(files));
  return all.subarray(Math.max(0, all.length - STDERR_TAIL_BYTES)).toString('utf8');
}
