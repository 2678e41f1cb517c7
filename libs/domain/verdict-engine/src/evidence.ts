/** What ran the machine. The fake driver reports in QEMU's words. */
export const EVIDENCE_DRIVERS = ['qemu', 'firecracker', 'fake'] as const;
export type EvidenceDriver = (typeof EVIDENCE_DRIVERS)[number];

/** How the guest came to run: by booting, or by continuing the saved state of another machine. */
export const EVIDENCE_ORIGINS = ['boot', 'clone'] as const;
export type EvidenceOrigin = (typeof EVIDENCE_ORIGINS)[number];

/** How the VMM process ended, as its parent saw it. `code` is null when a signal ended it, and the other way round. */
export interface VmmExit {
  readonly code: number | null;
  /** Signal name as Node gives it, for example `SIGKILL`. */
  readonly signal: string | null;
  /** When the host observed it, in ms since the Unix epoch. */
  readonly atMs: number;
}

/**
 * Facts about one incarnation and about its recording; `meta.json` of the bundle. All times are host time, in ms since the
 * Unix epoch.
 */
export interface EvidenceMeta {
  readonly formatVersion: 1;
  readonly machineId: string;
  readonly incarnation: number;
  readonly driver: EvidenceDriver;
  /** Absent = it booted. No kernel starts on the console of a clone, which may stay empty. */
  readonly origin?: EvidenceOrigin;
  /** Taken before the VMM process was started: anything older belongs to another incarnation. */
  readonly startedAtMs: number;
  /** When the evidence was closed or looked at. */
  readonly observedAtMs: number;
  /** null: the VMM process was alive at `observedAtMs`. */
  readonly exit: VmmExit | null;
  /** The end of what the VMM printed on stderr. */
  readonly stderrTail: string;
  readonly serial: { readonly totalBytes: number; readonly droppedBytes: number };
  readonly recorder: {
    /** The recorder listened before the guest ran its first instruction. */
    readonly attachedBeforeBoot: boolean;
    /** The recording was interrupted: events or console output may be missing. */
    readonly lost: boolean;
    readonly note: string | null;
  };
}

/** Everything known about one incarnation: what `drawVerdict` reads, and nothing else. */
export interface Evidence {
  readonly meta: EvidenceMeta;
  /** `events.jsonl`. */
  readonly events: Uint8Array;
  /** `serial.log`. */
  readonly serialHead: Uint8Array;
  /** `serial.tail.log`; empty when nothing was dropped. */
  readonly serialTail: Uint8Array;
  /** `actions.jsonl`. */
  readonly actions: Uint8Array;
  /** `probes.jsonl`. */
  readonly probes: Uint8Array;
}

/**
 * What the host can do to a machine. Each is recorded before it is done. Input and commands (from `click` on) explain an
 * ending to a person; no rule draws a verdict from them.
 */
export const HOST_ACTIONS = [
  'start',
  'shutdown',
  'reset',
  'destroy',
  'pause',
  'resume',
  'quit',
  'kill',
  'reap',
  'click',
  'type_text',
  'press_keys',
  'scroll',
  'exec_serial',
] as const;
export type HostAction = (typeof HOST_ACTIONS)[number];

/** One line of `actions.jsonl`: who asked for what, when (ms since the Unix epoch), and why. */
export interface ActionRecord {
  readonly atMs: number;
  readonly action: HostAction;
  /** The person, session or part that asked. */
  readonly by: string;
  readonly reason: string;
}

/** What the host can know about itself that explains a machine's end. */
export const HOST_FACTS = ['disk_full', 'oom_kill'] as const;
export type HostFact = (typeof HOST_FACTS)[number];

/** One line of `probes.jsonl`. `atMs` is when the outcome was known, in ms since the Unix epoch. */
export type ProbeRecord =
  /** An agent ping with a fresh nonce; `ok: false` means unanswered when `deadlineMs` had passed. */
  | {
      readonly atMs: number;
      readonly kind: 'ping';
      readonly ok: boolean;
      readonly latencyMs: number;
      readonly deadlineMs: number;
    }
  /** Bytes the guest had written to its console by then. */
  | { readonly atMs: number; readonly kind: 'serial'; readonly totalBytes: number }
  /** The agent's own word: init has begun to stop the system; the root file system is mounted read-only. */
  | { readonly atMs: number; readonly kind: 'agent'; readonly initStopping: boolean; readonly rootReadonly: boolean }
  /** Answer to QMP `query-status`; null when QMP did not answer by its deadline. */
  | { readonly atMs: number; readonly kind: 'status'; readonly status: string | null }
  /** The guest link opened, or closed from the guest's side. */
  | { readonly atMs: number; readonly kind: 'link'; readonly open: boolean }
  | { readonly atMs: number; readonly kind: 'host'; readonly fact: HostFact; readonly detail: string };

/** A probe record of one kind. */
export type ProbeOf<Kind extends ProbeRecord['kind']> = Extract<ProbeRecord, { kind: Kind }>;
