import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsObject, IsString } from 'class-validator';
import { event, operation } from '@inquest/kernel';
import {
  ErrorView,
  IsAllowedHosts,
  IsId,
  IsImageName,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
  PageRequest,
  PersonView,
  StreamTicket,
} from '@inquest/contracts-base';
import { VerdictView } from '@inquest/contracts-vm';
import { PublicationView } from '@inquest/contracts-publish';
import {
  AnswerConfirmationRequest,
  ConfirmationList,
  ConfirmationPolicy,
  ConfirmationRequest,
  ConfirmationView,
  ListConfirmationsRequest,
} from './confirmations.dto';

/** `agent`: a model acts. `hand`: a person invokes the verbs; the same machinery without a model. */
export const SESSION_MODES = ['agent', 'hand'] as const;
export type SessionMode = (typeof SESSION_MODES)[number];

export const SESSION_STATES = ['opening', 'ready', 'closing', 'closed', 'failed'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const RUN_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export type RunState = (typeof RUN_STATES)[number];

export class OpenSessionRequest {
  /** Idempotency: the same id answers with the same session. */
  @Nullable() @IsId() readonly requestId: string | null = null;
  /** The host-side repository to work on; made when it does not exist. */
  @IsId() readonly project!: string;
  @IsImageName() readonly image: string = 'tiny';
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
  @Nullable() @IsWhole(128, 1_048_576) readonly memoryMib: number | null = null;
  /** Hosts that its machine may reach by HTTPS: names, and `*.suffix` for all below a suffix. */
  @IsAllowedHosts() readonly allowedHosts: string[] = [];
  @IsIn(SESSION_MODES) readonly mode: SessionMode = 'agent';
  /** The conversation it belongs to, when there is one. */
  @Nullable() @IsId() readonly chat: string | null = null;
  /** Author of the commits; null: the service's own name. */
  @Nullable() @IsNested(() => PersonView) readonly author: PersonView | null = null;
  /** What a person must approve of in each of its runs; null: nothing. */
  @Nullable() @IsNested(() => ConfirmationPolicy) readonly confirm: ConfirmationPolicy | null = null;
}

/** One conversation's use of one machine for one project. */
export class SessionView {
  @IsId() readonly sessionId!: string;
  @IsId() readonly project!: string;
  @Nullable() @IsId() readonly chat!: string | null;
  @IsImageName() readonly image!: string;
  @IsIn(SESSION_MODES) readonly mode!: SessionMode;
  @IsIn(SESSION_STATES) readonly state!: SessionState;
  @IsText(64) readonly reason!: string;
  @IsText(8192) readonly message!: string;
  @Nullable() @IsId() readonly machineId!: string | null;
  @Nullable() @IsId() readonly currentRunId!: string | null;
  @IsTimeMs() readonly openedAtMs!: number;
  @Nullable() @IsTimeMs() readonly closedAtMs!: number | null;
  /** How its machine ended; null while it lives. */
  @Nullable() @IsNested(() => VerdictView) readonly verdict!: VerdictView | null;
  @Nullable() @IsNested(() => PublicationView) readonly publication!: PublicationView | null;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
}

export class SessionList {
  @IsListOf(() => SessionView, 200) readonly items!: SessionView[];
  @Nullable() @IsText(512) readonly nextToken!: string | null;
}

export class SessionRequest {
  @IsId() readonly sessionId!: string;
}

export class WaitSessionRequest extends SessionRequest {
  @IsIn(SESSION_STATES, { each: true }) @ArrayMaxSize(5) readonly states!: SessionState[];
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class SubmitRunRequest extends SessionRequest {
  @Nullable() @IsId() readonly requestId: string | null = null;
  @IsText(64 * 1024, 1) readonly prompt!: string;
  /** When the run has ended: power off, draw the verdict, publish, close the session. */
  @IsBoolean() readonly closeWhenDone: boolean = false;
  /** What a person must approve of in this run, besides what the session says. */
  @Nullable() @IsNested(() => ConfirmationPolicy) readonly confirm: ConfirmationPolicy | null = null;
}

/** Characters of a run's summary. */
export const RUN_SUMMARY_LENGTH = 16 * 1024;

/** One request to the agent inside a session. Progress is keyed by it, never by the chat. */
export class RunView {
  @IsId() readonly runId!: string;
  @IsId() readonly sessionId!: string;
  @IsIn(RUN_STATES) readonly state!: RunState;
  @IsText(64 * 1024) readonly prompt!: string;
  /** What `done` said, or what the model said when it ended without it. */
  @IsText(RUN_SUMMARY_LENGTH) readonly summary!: string;
  @IsWhole(0, 100_000) readonly turns!: number;
  @IsTimeMs() readonly startedAtMs!: number;
  @Nullable() @IsTimeMs() readonly endedAtMs!: number | null;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
}

export class RunRequest {
  @IsId() readonly runId!: string;
}

export class WaitRunRequest extends RunRequest {
  /** Answers when the run has ended, or after this long with the state it is in. */
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class InvokeVerbRequest extends SessionRequest {
  @IsText(64, 1) readonly verb!: string;
  /** Checked against the verb's row; see `VERBS`. */
  @IsObject() readonly arguments!: Record<string, unknown>;
}

/** `refused`: not done, the text says why and what to do instead. `failed`: done, and its own result is a failure. `error`: it could not be done. */
export const VERB_OUTCOMES = ['ok', 'refused', 'failed', 'error'] as const;
export type VerbOutcome = (typeof VERB_OUTCOMES)[number];

export class VerbResult {
  @IsIn(VERB_OUTCOMES) readonly outcome!: VerbOutcome;
  /** For the model or the person. */
  @IsString() readonly text!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly durationMs!: number;
  /** Where the PNG that the verb took waits for its one reader; never told outside the platform. */
  @Nullable() @IsNested(() => StreamTicket) readonly picture: StreamTicket | null = null;
}

export class CloseSessionRequest extends SessionRequest {
  /** Push the session's commits to the forge before closing. */
  @IsBoolean() readonly publish: boolean = true;
  @IsText(64) readonly by: string = 'caller';
}

export class ReadTranscriptRequest extends SessionRequest {
  /** First sequence number wanted; entries start at 1. */
  @IsWhole(1, Number.MAX_SAFE_INTEGER) readonly fromSequence: number = 1;
  /** Entries per answer; fewer come when they would not fit into a message. */
  @IsWhole(1, 1000) readonly limit: number = 200;
}

/** Entries as `domain/transcript` defines them. */
export class TranscriptPage {
  @IsArray() @ArrayMaxSize(1000) @IsObject({ each: true }) readonly entries!: Record<string, unknown>[];
  /** Null: this was the last entry so far. */
  @Nullable() @IsWhole(1, Number.MAX_SAFE_INTEGER) readonly nextSequence!: number | null;
  /** Torn or unreadable lines that were skipped, for people. */
  @IsArray() @ArrayMaxSize(100) @IsString({ each: true }) readonly warnings!: string[];
}

/** One transcript entry, live. */
export class SessionProgress {
  @IsId() readonly sessionId!: string;
  @Nullable() @IsId() readonly runId!: string | null;
  @IsWhole(1, Number.MAX_SAFE_INTEGER) readonly sequence!: number;
  @IsTimeMs() readonly atMs!: number;
  /** As `domain/transcript` defines it; long texts shortened so that it fits into a message. */
  @IsObject() readonly entry!: Record<string, unknown>;
}

const SUBJECT = 'inquest.v1.cmd.agent';

/** The calls that agent-service answers. */
export const agentOps = {
  openSession: operation({
    subject: `${SUBJECT}.open-session`,
    request: OpenSessionRequest,
    response: SessionView,
    timeoutMs: 15_000,
  }),
  showSession: operation({
    subject: `${SUBJECT}.show-session`,
    request: SessionRequest,
    response: SessionView,
    timeoutMs: 5_000,
  }),
  listSessions: operation({
    subject: `${SUBJECT}.list-sessions`,
    request: PageRequest,
    response: SessionList,
    timeoutMs: 5_000,
  }),
  waitSession: operation({
    subject: `${SUBJECT}.wait-session`,
    request: WaitSessionRequest,
    response: SessionView,
    timeoutMs: 60_000,
  }),
  closeSession: operation({
    subject: `${SUBJECT}.close-session`,
    request: CloseSessionRequest,
    response: SessionView,
    timeoutMs: 15_000,
  }),
  submitRun: operation({
    subject: `${SUBJECT}.submit-run`,
    request: SubmitRunRequest,
    response: RunView,
    timeoutMs: 10_000,
  }),
  showRun: operation({ subject: `${SUBJECT}.show-run`, request: RunRequest, response: RunView, timeoutMs: 5_000 }),
  waitRun: operation({ subject: `${SUBJECT}.wait-run`, request: WaitRunRequest, response: RunView, timeoutMs: 60_000 }),
  cancelRun: operation({ subject: `${SUBJECT}.cancel-run`, request: RunRequest, response: RunView, timeoutMs: 15_000 }),
  invokeVerb: operation({
    subject: `${SUBJECT}.invoke-verb`,
    request: InvokeVerbRequest,
    response: VerbResult,
    timeoutMs: 660_000,
  }),
  readTranscript: operation({
    subject: `${SUBJECT}.read-transcript`,
    request: ReadTranscriptRequest,
    response: TranscriptPage,
    timeoutMs: 10_000,
  }),
  listConfirmations: operation({
    subject: `${SUBJECT}.list-confirmations`,
    request: ListConfirmationsRequest,
    response: ConfirmationList,
    timeoutMs: 5_000,
  }),
  showConfirmation: operation({
    subject: `${SUBJECT}.show-confirmation`,
    request: ConfirmationRequest,
    response: ConfirmationView,
    timeoutMs: 5_000,
  }),
  answerConfirmation: operation({
    subject: `${SUBJECT}.answer-confirmation`,
    request: AnswerConfirmationRequest,
    response: ConfirmationView,
    timeoutMs: 10_000,
  }),
} as const;

/** Each with the session's id behind it, e.g. `inquest.v1.evt.agent.progress.<sessionId>`. */
export const agentEvents = {
  progress: event({ subject: 'inquest.v1.evt.agent.progress', body: SessionProgress }),
  /** A confirmation was asked for, or is not open any more. */
  confirmationChanged: event({ subject: 'inquest.v1.evt.agent.confirmation-changed', body: ConfirmationView }),
} as const;
