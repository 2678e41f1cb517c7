import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  agentError,
  type CloseSessionRequest,
  type InvokeVerbRequest,
  type OpenSessionRequest,
  type RunView,
  type SessionList,
  type SessionView,
  type SubmitRunRequest,
  type VerbResult,
  type WaitSessionRequest,
} from '@inquest/contracts-agent';
import { isDomainError, newId, toDomainError, type RunId, type SessionId } from '@inquest/kernel';
import { RunsRepository } from '../runs/runs.repository';
import { RunsService } from '../runs/runs.service';
import { TranscriptsService } from '../transcript/transcripts.service';
import { VerbDispatcher } from '../verbs/verb-dispatcher';
import type { SessionEntity } from './session.entity';
import { SessionClosing } from './session-closing';
import { SessionOpening } from './session-opening';
import { sessionView } from './session-view';
import { SessionsRepository } from './sessions.repository';

/** Author of commits when the caller names nobody. */
const SERVICE_AUTHOR = { name: 'Inquest agent', email: 'agent@inquest.invalid' };

/** Sessions from open to close. Long work goes on in the background and is finished after a restart. */
@Injectable()
export class SessionsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly log = new Logger(SessionsService.name);
  private readonly background = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly opening: SessionOpening,
    private readonly closing: SessionClosing,
    private readonly runs: RunsService,
    private readonly runRows: RunsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly verbs: VerbDispatcher,
  ) {}

  /** Answers with the session in `opening`; wait for `ready` with `wait`. */
  async open(request: OpenSessionRequest): Promise<SessionView> {
    const { row, isNew } = await this.sessions.insertOnce(newSession(request));
    if (isNew) this.inBackground(`opening session ${row.sessionId}`, () => this.openOrFail(row));
    return sessionView(row);
  }

  async show(session: SessionId): Promise<SessionView> {
    return sessionView(await this.sessions.get(session));
  }

  async list(limit: number, nextToken: string | null): Promise<SessionList> {
    const page = await this.sessions.page(limit, nextToken);
    return { items: page.items.map(sessionView), nextToken: page.nextToken };
  }

  async wait({ sessionId, states, waitMs }: WaitSessionRequest): Promise<SessionView> {
    return sessionView(await this.sessions.waitFor(sessionId as SessionId, states, waitMs));
  }

  submitRun(request: SubmitRunRequest): Promise<RunView> {
    return this.runs.submit(request, async (run) => {
      if (run.closeWhenDone) await this.beginClosing(run.sessionId as SessionId, `run_${run.state}`, true);
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
      signal: this.stopping.signal,
    });
    return result;
  }

  /** Answers with the session in `closing` (or as it ended, when it had); wait for `closed` with `wait`. */
  async close({ sessionId, publish, by }: CloseSessionRequest): Promise<SessionView> {
    const session = await this.sessions.get(sessionId as SessionId);
    if (session.currentRunId !== null) await this.runs.cancel(session.currentRunId as RunId);
    await this.beginClosing(sessionId as SessionId, `closed_by_${by}`.slice(0, 64), publish);
    return this.show(sessionId as SessionId);
  }

  /** Finishes what an earlier life of this service left half done. */
  async onApplicationBootstrap(): Promise<void> {
    const unfinished = await this.sessions.inStates(['opening', 'ready', 'closing']);
    for (const session of unfinished) await this.transcripts.reconcile(session.sessionId as SessionId);
    const interrupted = await this.runRows.unfinished();
    for (const run of interrupted) await this.runs.interrupt(run);
    for (const session of unfinished) {
      const wasToClose = interrupted.some((run) => run.sessionId === session.sessionId && run.closeWhenDone);
      if (session.state === 'closing') this.finishClosing(session.sessionId as SessionId);
      else if (session.state === 'opening')
        this.inBackground(`reopening session ${session.sessionId}`, () => this.openOrFail(session));
      else if (wasToClose) await this.beginClosing(session.sessionId as SessionId, 'run_interrupted', true);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('agent-service is stopping'));
    await Promise.allSettled([...this.background]);
  }

  private async openOrFail(session: SessionEntity): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    try {
      await this.opening.open(session, this.stopping.signal);
    } catch (e) {
      // A stop is no failure: the next life of the service opens it again.
      if (this.stopping.signal.aborted) return;
      if (!isDomainError(e)) this.log.error(`session ${sessionId} could not be opened`, e);
      const error = toDomainError(e);
      await this.transcripts.append(sessionId, null, 'host_event', { event: 'open_failed', detail: error.message });
      await this.sessions.change(sessionId, { error: error.toBody(), message: error.message });
      await this.beginClosing(sessionId, 'open_failed', false);
    }
  }

  private async beginClosing(session: SessionId, reason: string, publishOnClose: boolean): Promise<void> {
    const change = { state: 'closing' as const, reason, publishOnClose };
    if (await this.sessions.changeFrom(session, ['opening', 'ready'], change)) this.finishClosing(session);
  }

  private finishClosing(session: SessionId): void {
    this.inBackground(`closing session ${session}`, async () => this.closing.close(await this.sessions.get(session)));
  }

  private inBackground(what: string, work: () => Promise<void>): void {
    const task = work()
      .catch((e: unknown) => this.log.error(`${what} failed`, e))
      .finally(() => this.background.delete(task));
    this.background.add(task);
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
  mode: request.mode,
  state: 'opening',
  reason: 'opening',
  message: 'the machine is being started',
  machineId: null,
  currentRunId: null,
  hasPlan: false,
  hasCommit: false,
  publishOnClose: false,
  author: request.author ?? SERVICE_AUTHOR,
  verdict: null,
  publication: null,
  error: null,
  openedAt: new Date(),
  closedAt: null,
});
