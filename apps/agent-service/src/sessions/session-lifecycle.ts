import { setMaxListeners } from 'node:events';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  hasCode,
  isDomainError,
  KeyedQueue,
  toDomainError,
  withDeadline,
  type RunId,
  type SessionId,
} from '@inquest/kernel';
import { untilStored } from '@inquest/persistence';
import { RunEnding } from '../runs/run-ending';
import { hasEnded, RunsRepository } from '../runs/runs.repository';
import { RunsService } from '../runs/runs.service';
import { Redaction } from '../transcript/redaction';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { SessionEntity } from './session.entity';
import { SessionClosing } from './session-closing';
import { SessionOpening } from './session-opening';
import { SessionsRepository } from './sessions.repository';

/** How long work under way has to reach a point from which the next life of the service goes on. */
const STOP_TIMEOUT_MS = 4_000;

export interface CloseReason {
  /** Short and machine-readable. */
  readonly reason: string;
  /** Publish what the session committed first. */
  readonly publishOnClose: boolean;
}

/**
 * What happens to sessions in the background: they are opened, they are closed, and a restart finishes what was begun.
 * Each session has one such piece of work at a time.
 */
@Injectable()
export class SessionLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(SessionLifecycle.name);
  private readonly queue = new KeyedQueue();
  private readonly background = new Set<Promise<void>>();
  private readonly openings = new Map<SessionId, AbortController>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly opening: SessionOpening,
    private readonly closing: SessionClosing,
    private readonly runs: RunsService,
    private readonly runRows: RunsRepository,
    private readonly runEnding: RunEnding,
    private readonly transcripts: TranscriptsService,
    private readonly redaction: Redaction,
  ) {
    // Every verb by hand listens to it.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Aborts when the service stops. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  beginOpening(session: SessionEntity, isRepeat = false): void {
    const sessionId = session.sessionId as SessionId;
    const cancel = new AbortController();
    this.openings.set(sessionId, cancel);
    this.inBackground(sessionId, 'opening', () =>
      this.openOrFail(session, isRepeat, cancel.signal).finally(() => this.openings.delete(sessionId)),
    );
  }

  /** Closes a session unless it is closing or closed already. A run at work in it is cancelled. */
  async beginClosing(session: SessionId, { reason, publishOnClose }: CloseReason): Promise<void> {
    const change = { state: 'closing' as const, reason, publishOnClose };
    const isOurs = await this.stored(session, () => this.sessions.changeFrom(session, ['opening', 'ready'], change));
    if (isOurs) this.finishClosing(session);
  }

  /** Finishes what an earlier life of this service left half done. */
  async onApplicationBootstrap(): Promise<void> {
    const unfinished = await this.sessions.inStates(['opening', 'ready', 'closing']);
    for (const { sessionId } of unfinished) await this.transcripts.catchUp(sessionId as SessionId);
    for (const run of await this.runRows.unfinished()) await this.runEnding.interrupt(run);
    for (const session of unfinished) await this.resume(session);
  }

  /** Before the connections close: runs are interrupted and put that on record, and what is under way stops. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    const stopped = Promise.all([this.runs.stop(), ...this.background]);
    await withDeadline(stopped, STOP_TIMEOUT_MS, 'the end of runs and sessions under way').catch((e: unknown) => {
      this.log.warn('stopping while work is still under way; the next start goes on with it', e);
    });
  }

  private async resume(session: SessionEntity): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    if (session.state === 'opening') return this.beginOpening(session, true);
    if (session.state === 'closing') return this.finishClosing(sessionId);
    const last = await this.runRows.lastOf(sessionId);
    if (last?.closeWhenDone === true && hasEnded(last)) await this.beginClosing(sessionId, closeAfterRun(last.state));
  }

  private async openOrFail(session: SessionEntity, isRepeat: boolean, cancelled: AbortSignal): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    const signal = AbortSignal.any([this.stopping.signal, cancelled]);
    try {
      await this.opening.open(session, { isRepeat, signal });
    } catch (e) {
      // The next life of the service opens it again, or its closing follows.
      if (signal.aborted) return;
      if (!isDomainError(e)) this.log.error(`session ${sessionId} could not be opened`, e);
      const error = this.redaction.error(toDomainError(e));
      await this.transcripts.append(sessionId, null, 'host_event', { event: 'open_failed', detail: error.message });
      await this.stored(sessionId, () => this.sessions.change(sessionId, { error, message: error.message }));
      await this.beginClosing(sessionId, { reason: 'open_failed', publishOnClose: false });
    }
  }

  private finishClosing(sessionId: SessionId): void {
    this.openings.get(sessionId)?.abort();
    this.inBackground(sessionId, 'closing', async () => {
      const session = await this.stored(sessionId, () => this.sessions.get(sessionId));
      if (session.currentRunId !== null) await this.cancelRun(session.currentRunId as RunId);
      await this.closing.close(session, this.stopping.signal);
    });
  }

  /** A run that does not end in time ends with the machine. */
  private async cancelRun(run: RunId): Promise<void> {
    await this.runs.cancel(run).catch((e: unknown) => this.log.warn(`run ${run} is still at work`, e));
  }

  private inBackground(session: SessionId, what: string, work: () => Promise<void>): void {
    const task = this.queue
      .run(session, async () => {
        if (!this.stopping.signal.aborted) await work();
      })
      .catch((e: unknown) => {
        // Interrupted by the stop of the service: the next life of it goes on.
        if (!hasCode(e, 'OPERATION_ABORTED')) this.log.error(`${what} session ${session} failed`, e);
      })
      .finally(() => this.background.delete(task));
    this.background.add(task);
  }

  private stored<T>(session: SessionId, work: () => Promise<T>): Promise<T> {
    const onRetry = (e: unknown): void => this.log.warn(`session ${session} waits for the database`, e);
    return untilStored(work, { signal: this.stopping.signal, onRetry });
  }
}

/** How a session is closed that was to be closed with its run. */
export const closeAfterRun = (state: string): CloseReason => ({ reason: `run_${state}`, publishOnClose: true });
