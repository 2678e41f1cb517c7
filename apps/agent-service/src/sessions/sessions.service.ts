import { Injectable } from '@nestjs/common';
import {
  agentError,
  type CloseSessionRequest,
  type InvokeVerbRequest,
  type OpenSessionRequest,
  type RunView,
  type SessionList,
  type SessionView,
  type SubmitRunRequest,
  type TranscriptPage,
  type VerbResult,
  type WaitSessionRequest,
} from '@inquest/contracts-agent';
import { newId, type SessionId } from '@inquest/kernel';
import { RunsService } from '../runs/runs.service';
import { TranscriptsService } from '../transcript/transcripts.service';
import { VerbDispatcher } from '../verbs/verb-dispatcher';
import type { SessionEntity } from './session.entity';
import { closeAfterRun, SessionLifecycle } from './session-lifecycle';
import { sessionView } from './session-view';
import { SessionsRepository } from './sessions.repository';

/** Author of commits when the caller names nobody. */
const SERVICE_AUTHOR = { name: 'Inquest agent', email: 'agent@inquest.invalid' };
/** Of `reason` of a session. */
const REASON_LENGTH = 64;

/** Sessions as their callers see them; what takes long goes on in the background. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly lifecycle: SessionLifecycle,
    private readonly runs: RunsService,
    private readonly transcripts: TranscriptsService,
    private readonly verbs: VerbDispatcher,
  ) {}

  /**
   * Answers with the session in `opening`; wait for `ready` with `wait`. The same request id answers with the same
   * session.
   */
  async open(request: OpenSessionRequest): Promise<SessionView> {
    const { row, isNew } = await this.sessions.insertOnce(newSession(request));
    if (isNew) this.lifecycle.beginOpening(row);
    return sessionView(row);
  }

  /** Throws `SESSION_UNKNOWN`. */
  async show(session: SessionId): Promise<SessionView> {
    return sessionView(await this.sessions.get(session));
  }

  /** Newest first. */
  async list(limit: number, nextToken: string | null): Promise<SessionList> {
    const page = await this.sessions.page(limit, nextToken);
    return { items: page.items.map(sessionView), nextToken: page.nextToken };
  }

  /** The session once it is in one of the states, or as it is after `waitMs`. Throws `SESSION_UNKNOWN`. */
  async wait({ sessionId, states, waitMs }: WaitSessionRequest): Promise<SessionView> {
    return sessionView(await this.sessions.waitFor(sessionId as SessionId, states, waitMs));
  }

  /** Throws `SESSION_UNKNOWN`, `SESSION_STATE_WRONG`, `RUN_ACTIVE`. */
  submitRun(request: SubmitRunRequest): Promise<RunView> {
    return this.runs.submit(request, async (state) => {
      if (request.closeWhenDone)
        await this.lifecycle.beginClosing(request.sessionId as SessionId, closeAfterRun(state));
    });
  }

  /** One verb by hand. Throws `SESSION_UNKNOWN`, `SESSION_STATE_WRONG`, `RUN_ACTIVE`; what the verb does is its answer. */
  async invokeVerb({ sessionId, verb, arguments: args }: InvokeVerbRequest): Promise<VerbResult> {
    const session = await this.sessions.get(sessionId as SessionId);
    if (session.currentRunId !== null) {
      throw agentError(
        'RUN_ACTIVE',
        `run ${session.currentRunId} is at work in session ${sessionId}; verbs by hand would mix with it`,
      );
    }
    const { result } = await this.verbs.dispatch({
      sessionId: sessionId as SessionId,
      runId: null,
      callId: newId<string>('call'),
      verb,
      arguments: args,
      confirm: null,
      signal: this.lifecycle.stopSignal,
    });
    return result;
  }

  /**
   * Answers with the session in `closing` (or as it ended, when it had); wait for `closed` with `wait`. Throws
   * `SESSION_UNKNOWN`.
   */
  async close({ sessionId, publish, by }: CloseSessionRequest): Promise<SessionView> {
    await this.sessions.get(sessionId as SessionId);
    const reason = `closed_by_${by}`.slice(0, REASON_LENGTH);
    await this.lifecycle.beginClosing(sessionId as SessionId, { reason, publishOnClose: publish });
    return this.show(sessionId as SessionId);
  }

  /** A page of the transcript. Throws `SESSION_UNKNOWN`. */
  async readTranscript(session: SessionId, fromSequence: number, limit: number): Promise<TranscriptPage> {
    await this.sessions.get(session);
    return this.transcripts.read(session, fromSequence, limit);
  }
}

const newSession = (request: OpenSessionRequest): SessionEntity => ({
  sessionId: newId<SessionId>('ses'),
  requestId: request.requestId,
  project: request.project,
  chat: request.chat,
  image: request.image,
  imageVersion: request.version,
  memoryMib: request.memoryMib,
  allowedHosts: request.allowedHosts,
  confirm: request.confirm,
  mode: request.mode,
  state: 'opening',
  reason: 'opening',
  message: 'the machine is being started',
  machineId: null,
  currentRunId: null,
  hasPlan: false,
  publishOnClose: false,
  author: request.author ?? SERVICE_AUTHOR,
  verdict: null,
  publication: null,
  error: null,
  openedAt: new Date(),
  closedAt: null,
});
