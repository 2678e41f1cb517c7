/** A value that survives JSON unchanged. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** How a verb ended. `failed`: it ran and its own result was a failure (a command's exit code); `error`: it could not run. */
export const VERB_OUTCOMES = ['ok', 'refused', 'failed', 'error'] as const;
export type VerbOutcome = (typeof VERB_OUTCOMES)[number];

/** `expired` is not a denial: nobody answered in time. `withdrawn`: the run ended or was replaced first. */
export const CONFIRMATION_STATES = ['asked', 'approved', 'denied', 'expired', 'withdrawn'] as const;
export type ConfirmationState = (typeof CONFIRMATION_STATES)[number];

/** How a run ended, as seen by whoever asked for it. */
export const RUN_OUTCOMES = ['done', 'failed', 'cancelled', 'timed_out', 'machine_lost'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** The version of the line format that this library writes, recorded in `session_opened`. */
export const TRANSCRIPT_FORMAT_VERSION = 1;

/** What was left out of a line to keep it within its bound. */
export interface Cut {
  /** Characters taken out of texts; each place carries a mark that says how many. */
  readonly characters: number;
  /** List elements and object properties left out. */
  readonly items: number;
}

/** What every entry has. */
export interface Envelope {
  /** 1 for the first entry of a session, then without a gap. */
  readonly sequence: number;
  /** Wall-clock time of the entry, ms since the Unix epoch. */
  readonly atMs: number;
  readonly sessionId: string;
  /** Null for what belongs to the session as a whole. */
  readonly runId: string | null;
  /** Present only in a line that the encoder had to shorten. */
  readonly cut?: Cut;
}

export interface SessionOpened {
  readonly formatVersion: number;
  readonly project: string;
  /** `name:version` of the frozen image. */
  readonly image: string;
  readonly machineId: string;
}

export interface RunStarted {
  readonly prompt: string;
  /** The model's name, or null for an in-guest command line. */
  readonly model: string | null;
}

export interface PlanRecorded {
  readonly steps: readonly string[];
}

export interface TokenCount {
  readonly input: number;
  readonly output: number;
}

export interface ModelTurn {
  /** What the model said besides its verb calls. */
  readonly text: string;
  /** Null when the endpoint reported no usage. */
  readonly tokens: TokenCount | null;
}

export interface Verb {
  /** The model's id of this call. */
  readonly callId: string;
  readonly verb: string;
  readonly arguments: JsonValue;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly outcome: VerbOutcome;
  /** What the caller was answered: a result's summary, a command's output, the reason of a refusal. */
  readonly summary: string;
  /** Size of the whole result in bytes, of which `summary` may be a part. */
  readonly bytes: number;
}

export interface Confirmation {
  readonly confirmationId: string;
  readonly callId: string;
  readonly question: string;
  readonly state: ConfirmationState;
  /** The way by which it was answered; null while nobody has. */
  readonly by: string | null;
  /** What was said with the answer, or why there was none; empty while it is asked. */
  readonly reason: string;
}

/** Something that the host did or saw and no verb asked for: a reset, a lost link, a suspected hang. */
export interface HostEvent {
  readonly event: string;
  readonly detail: string;
}

export interface VerdictQuote {
  /** Name of the file in the evidence bundle. */
  readonly file: string;
  /** Offset of the quote in that file, in bytes. */
  readonly offset: number;
  readonly quote: string;
}

export interface VerdictDrawn {
  readonly machineId: string;
  readonly incarnation: number;
  readonly class: string;
  readonly confidence: string;
  readonly account: string;
  readonly deciding: readonly VerdictQuote[];
}

export interface HeldFile {
  readonly path: string;
  readonly rule: string;
  readonly why: string;
}

export interface Publication {
  /** Null when nothing had changed. */
  readonly commit: string | null;
  readonly branch: string | null;
  /** Changed paths that are in the commit. */
  readonly kept: readonly string[];
  readonly held: readonly HeldFile[];
  /** True only when the forge was read back and its branch head is `commit`. */
  readonly pushed: boolean;
  /** Where it was pushed, or why it was not. */
  readonly detail: string;
}

export interface RunEnded {
  readonly outcome: RunOutcome;
  readonly summary: string;
}

export interface SessionClosed {
  readonly reason: string;
}

/** How often one verb was called, and how those calls ended. */
export interface VerbCount {
  readonly verb: string;
  readonly count: number;
  readonly refused: number;
  readonly failed: number;
  readonly errors: number;
}

/** One number on which the transcript and the guest agent disagree. */
export interface CountDifference {
  readonly counter: string;
  readonly transcript: number;
  readonly guest: number;
}

export interface Census {
  /** Most used first; equal counts by name. */
  readonly verbs: readonly VerbCount[];
  /** Verbs that were on offer and never called, by name. */
  readonly neverUsed: readonly string[];
  readonly modelTurns: number;
  readonly differences: readonly CountDifference[];
}

/** The body of each type of entry. */
export interface EntryBodies {
  readonly session_opened: SessionOpened;
  readonly run_started: RunStarted;
  readonly plan_recorded: PlanRecorded;
  readonly model_turn: ModelTurn;
  readonly verb: Verb;
  readonly confirmation: Confirmation;
  readonly host_event: HostEvent;
  readonly verdict: VerdictDrawn;
  readonly publication: Publication;
  readonly run_ended: RunEnded;
  readonly session_closed: SessionClosed;
  readonly census: Census;
}

export type EntryType = keyof EntryBodies;

/** One entry of a known type, e.g. `Entry<'verb'>`. */
export type Entry<T extends EntryType> = Envelope & { readonly type: T } & EntryBodies[T];

/** Any entry; narrow it by `type`. */
export type TranscriptEntry = { [T in EntryType]: Entry<T> }[EntryType];
