/** Answer to `ping`. All text is the guest's claim. */
export interface Pong {
  readonly nonce: string;
  readonly protocol: number;
  readonly agentVersion: string;
  /** Changes with every boot of the guest kernel. */
  readonly bootId: string;
  readonly uptimeMs: number;
  readonly kernel: string;
  readonly hostname: string;
  /** True when the guest end of egress is up. */
  readonly egress: boolean;
}

/** The command of an exec runs. */
export interface ExecStarted {
  /** Names the exec in `signal`. */
  readonly execId: string;
  readonly pid: number;
}

/** The command of an exec has ended, and so has its whole process group. */
export interface ExecExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Name such as `SIGKILL`; null when it exited by itself. */
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly durationMs: number;
}

/** What a `put` stored. */
export interface PutResult {
  readonly entries: number;
  readonly bytes: number;
}

/** End of the data of a `get`. */
export interface GetEnd {
  readonly bytes: number;
  /** 64 lower-case hex characters, over the data as sent. */
  readonly sha256: string;
}

/** Where a `tail` starts, or where it ended: a later `tail` may continue there. */
export interface TailPosition {
  readonly offset: number;
}

export const FILE_KINDS = ['file', 'dir', 'link', 'other'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** One entry of a directory. */
export interface FileEntry {
  /** Without slash or NUL, never `.` or `..`. */
  readonly name: string;
  readonly kind: FileKind;
  readonly size: number;
  /** Octal, without the file type bits. */
  readonly mode: string;
  readonly mtimeMs: number;
}

/** Answer to `stat`. */
export interface FileStat extends Omit<FileEntry, 'name'> {
  readonly uid: number;
  readonly gid: number;
}

/** Answer to `list`. */
export interface FileList {
  readonly entries: readonly FileEntry[];
  /** True when the directory has more entries than were asked for. */
  readonly truncated: boolean;
}

/** Answer to `metrics`. */
export interface GuestMetrics {
  readonly load1: number;
  readonly memoryTotalKib: number;
  readonly memoryAvailableKib: number;
  readonly diskTotalKib: number;
  readonly diskFreeKib: number;
  readonly processes: number;
  readonly execs: number;
  readonly cpuBusyTicks: number;
  readonly cpuTotalTicks: number;
}

/** One beat of `watch`. */
export interface Beat {
  readonly uptimeMs: number;
  readonly rootReadonly: boolean;
  /** True once init has begun to stop the system: the witness of an orderly shutdown. */
  readonly initStopping: boolean;
  readonly execs: number;
}
