/** Families of kernel reports. */
export const CONSOLE_CLASSES = [
  'panic',
  'double_fault',
  'oops',
  'general_protection',
  'null_dereference',
  'paging_request',
  'divide_error',
  'kernel_bug',
  'bug',
  'warning',
  'kasan',
  'kfence',
  'kcsan',
  'kmsan',
  'ubsan',
  'use_after_free',
  'list_corruption',
  'lockdep',
  'rcu_usage',
  'sleeping_in_atomic',
  'hung_task',
  'soft_lockup',
  'hard_lockup',
  'rcu_stall',
  'workqueue_lockup',
  'memory_leak',
  'device_leak',
  'page_state',
  'page_allocation_failure',
  'oom_kill',
  'filesystem_error',
  'block_error',
  'machine_check',
  'init_died',
] as const;
export type ConsoleClass = (typeof CONSOLE_CLASSES)[number];

/** `crash`: the kernel reports a defect or its own death. `trouble`: it copes, but an operator wants to know. */
export type Severity = 'crash' | 'trouble';

/** One report of the kernel about itself. */
export interface ConsoleReport {
  readonly class: ConsoleClass;
  readonly severity: Severity;
  /** The conventional short title, for example `KASAN: use-after-free Read in foo`. Printable ASCII. */
  readonly title: string;
  /** The message that begins it, as the kernel printed it. */
  readonly text: string;
  /** First byte of the report's first line in the log. */
  readonly offset: number;
  /** Bytes of that first line. */
  readonly length: number;
  /** The report stops before its end: the machine, or the recording, died in the middle of it. */
  readonly truncated: boolean;
}

/** How a report of a family ends when it is whole. */
export type ReportEnd =
  /** The line says it all. */
  | 'line'
  /** `---[ end trace`, or the end of the panic it led to. */
  | 'end-trace'
  /** `---[ end Kernel panic`, or the reboot that follows it. */
  | 'end-panic'
  /** A closing line of `=`, or `---[ end trace`. */
  | 'rule'
  /** A call trace that the log goes on behind, or that closes itself (`</TASK>`). */
  | 'trace'
  /** The line that names the killed process. */
  | 'kill'
  /** The locks that are held, and by whom: a line with a function each. */
  | 'held';

/** What the lines of a report give to its title. */
export interface ReportBody {
  /** The function that the first line itself names. */
  named: string | null;
  /** The function at the program counter. */
  programCounter: string | null;
  /** The first functions of the call trace, outermost last. */
  readonly frames: string[];
  /** `Read`/`Write` of a sanitizer report. */
  access: string | null;
  /** The functions that lockdep says took, or want, the locks in question: the wanted one first. */
  readonly locks: string[];
  /** The process that was killed for memory. */
  victim: string | null;
}
