/** Asks whether the agent answers, and who it is. */
export interface PingRequest {
  readonly op: 'ping';
  /** Echoed by the answer; at most 64 characters. */
  readonly nonce: string;
}

/** What an exec runs: a program with its arguments, or a line for `/bin/sh -c`. */
export type ExecCommand = { readonly argv: readonly string[] } | { readonly shell: string };

/** How an exec runs. An absent property means the agent's default. */
export interface ExecOptions {
  readonly cwd?: string;
  /** Added to the agent's base environment. May carry credentials: never log it. */
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: string;
  /** The guest kills the whole process group after this many ms; 0 or absent means never. */
  readonly timeoutMs?: number;
  /** True when data frames will feed its standard input; absent means closed. */
  readonly stdin?: boolean;
  /** True when the command must go on after its stream has closed; its output is then discarded. */
  readonly detach?: boolean;
  /**
   * Gives it a terminal: its output is then one stream, stdout; data frames are what is typed; no process of its
   * session outlives it.
   */
  readonly pty?: Pty;
}

/** A size in characters, each side from 1 to 1000. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** The terminal of an exec. */
export interface Pty extends TerminalSize {
  /** Its type, for `TERM`: letters, digits and `._+-`, at most 64; the agent's default is `xterm-256color`. */
  readonly term?: string;
}

export type ExecRequest = { readonly op: 'exec' } & ExecCommand & ExecOptions;

/** Sends a signal to the process group of an exec. */
export interface SignalRequest {
  readonly op: 'signal';
  readonly execId: string;
  /** A name such as `SIGTERM`. */
  readonly signal: string;
}

/** Changes the size of the terminal of an exec; its command is told by SIGWINCH. */
export interface ResizeRequest extends TerminalSize {
  readonly op: 'resize';
  readonly execId: string;
}

/** A directory tree as a tar archive, or the content of one file. */
export type TransferKind = 'tar' | 'file';

/** Stores the data frames that follow it. */
export interface PutRequest {
  readonly op: 'put';
  readonly dest: string;
  readonly kind: TransferKind;
  readonly user?: string;
  /** Octal, such as `0644`. */
  readonly mode?: string;
}

/** Reads a file or a tree. */
export interface GetRequest {
  readonly op: 'get';
  readonly path: string;
  readonly kind: TransferKind;
  /** Globs against the path relative to `path`. */
  readonly exclude?: readonly string[];
}

/** Follows a growing file. */
export interface TailRequest {
  readonly op: 'tail';
  readonly path: string;
  readonly fromOffset?: number;
  /** Ends after this many ms without growth; the agent's default is 15 000. */
  readonly idleMs?: number;
  /** Ends after this many ms in all; the agent's default is 3 600 000. */
  readonly maxMs?: number;
}

export interface StatRequest {
  readonly op: 'stat';
  readonly path: string;
}

export interface ListRequest {
  readonly op: 'list';
  readonly path: string;
  /** Default and maximum 10 000. */
  readonly limit?: number;
}

export interface RemoveRequest {
  readonly op: 'remove';
  readonly path: string;
  readonly recursive?: boolean;
}

export interface MetricsRequest {
  readonly op: 'metrics';
}

/** Sets the guest clock, in ms since the Unix epoch. */
export interface ClockRequest {
  readonly op: 'clock';
  readonly setToMs: number;
}

/** Asks for a beat at once, on every change and every second. */
export interface WatchRequest {
  readonly op: 'watch';
}

export type ShutdownMode = 'poweroff' | 'reboot';

export interface ShutdownRequest {
  readonly op: 'shutdown';
  readonly mode: ShutdownMode;
}

/** Asks for `sync`, so that a snapshot of the disk has everything written so far. */
export interface QuiesceRequest {
  readonly op: 'quiesce';
}

/**
 * Makes a clone a machine of its own: all clones of a template wake up with its clock, its names and its random
 * numbers. Answered as `ping`, by the machine that it is from then on.
 */
export interface RebirthRequest {
  readonly op: 'rebirth';
  /** As for `ping`. */
  readonly nonce: string;
  /** The guest's clock, in ms since the Unix epoch. */
  readonly setToMs: number;
  /** 1 to 63 letters, digits and inner dashes. */
  readonly hostname: string;
  /** Content of `/etc/machine-id`: 32 lower-case hexadecimal digits. */
  readonly machineId: string;
  /** Bytes of the host for the kernel's random number generator, 32 to 256, in hexadecimal digits. */
  readonly entropy: string;
}

/**
 * Opens the guest's ends of the ways out that the host has ends of. For a clone, whose kernel arguments are those of
 * its template; a way that is open stays open, and none is closed.
 */
export interface OfferRequest {
  readonly op: 'offer';
  /** The proxy to the internet. */
  readonly egress: boolean;
  readonly localModel: boolean;
}

/** Mounts a directory that the host shares, read-only. */
export interface MountRequest {
  readonly op: 'mount';
  /** The mount tag of the machine's device. */
  readonly tag: string;
  /** Absolute; made when missing. */
  readonly path: string;
}

/** Asks whether the system with that IPv4 address answers over the guest's own network. */
export interface ReachRequest {
  readonly op: 'reach';
  readonly address: string;
  /** How long to wait for it, at most 60 000. */
  readonly timeoutMs: number;
}

/** The first frame of every stream. */
export type GuestRequest =
  | PingRequest
  | ExecRequest
  | SignalRequest
  | ResizeRequest
  | PutRequest
  | GetRequest
  | TailRequest
  | StatRequest
  | ListRequest
  | RemoveRequest
  | MetricsRequest
  | ClockRequest
  | WatchRequest
  | ShutdownRequest
  | QuiesceRequest
  | RebirthRequest
  | OfferRequest
  | MountRequest
  | ReachRequest;

export type GuestOp = GuestRequest['op'];
