import { readFile } from 'node:fs/promises';
import { processIdentity, type ProcessIdentity } from '@inquest/process';
import { vmDriverError, type VmExit } from '@inquest/vm-driver';

/** What is shown of QEMU's error output. */
export const STDERR_TAIL_BYTES = 4 * 1024;

/** A killed QEMU is gone in 20 ms; freeing a large guest's memory on a crowded host takes seconds. */
export const KILL_OBSERVE_MS = 20_000;

/** The process of one machine: QEMU, in a process group that the shell which it is started through leads. */
export interface MonitorProcess {
  /** QEMU's own pid. */
  readonly pid: number;
  /** True once QEMU was observed gone. */
  readonly hasExited: boolean;
  /** Settles once, when QEMU is gone and its error output is on disk. Never rejects. */
  readonly exited: Promise<VmExit>;

  /** The end of the error output so far, 4 KiB at most. Hostile text. */
  stderrTail(): string;

  /**
   * SIGKILLs the process group and waits until QEMU is observed gone. Killing a dead process succeeds. Rejects with
   * `VM_PROCESS_UNKILLABLE`.
   */
  kill(): Promise<VmExit>;
}

/** QEMU as the child of its shell; null before the shell has started it. */
export async function childOf(shell: ProcessIdentity): Promise<ProcessIdentity | null> {
  const { pid } = shell;
  // proc(5): the children of the thread, separated by blanks. The shell starts one.
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const child = Number(children.trim().split(' ')[0]);
  return child > 1 ? processIdentity(child) : null;
}

/** `VM_PROCESS_UNKILLABLE`. */
export const unkillable = (pid: number, cause: unknown): Error =>
  vmDriverError(
    'VM_PROCESS_UNKILLABLE',
    `QEMU process ${pid} is still there ${KILL_OBSERVE_MS} ms after SIGKILL`,
    { pid },
    cause,
  );
