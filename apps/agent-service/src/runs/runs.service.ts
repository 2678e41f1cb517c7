import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { agentError, type RunState, type RunView, type SubmitRunRequest } from '@inquest/contracts-agent';
import {
  isDomainError,
  newId,
  toDomainError,
  withDeadline,
  type DomainError,
  type RunId,
  type SessionId,
} from '@inquest/kernel';
import type { RunOutcome } from '@inquest/transcript';
import { AgentServiceConfig } from '../agent-service.config';
import { SessionsRepository } from '../sessions/sessions.repository';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { RunEntity } from './run.entity';
import { RunLoop } from './run-loop';
import { runView } from './run-view';
import { RunsRepository } from './runs.repository';
import { systemPrompt } from './system-prompt';

interface ActiveRun {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** How long a cancelled run has to put its end on record. */
const CANCEL_TIMEOUT_MS = 10_000;

/** Submits, watches and cancels runs. One run at a time works in a session. */
@Injectable()
export class RunsService implements OnApplicationShutdown {
  private readonly log = new Logger(RunsService.name);
  private readonly active = new Map<RunId, ActiveRun>();

  constructor(
    private readonly config: AgentServiceConfig,
    private readonly sessions: SessionsRepository,
    private readonly runs: RunsRepository,
    private readonly loop: RunLoop,
    private readonly transcripts: TranscriptsService,
  ) {}

  /**
   * Accepts a run and starts it. `onEnded` is called once when it ended, however it did. Throws `SESSION_UNKNOWN`,
   * `SESSION_STATE_WRONG`, `RUN_ACTIVE`.
   */
  async submit(request: SubmitRunRequest, onEnded: (run: RunEntity) => Promise<void>): Promise<RunView> {
    const sessionId = request.sessionId as SessionId;
    const session = await this.sessions.get(sessionId);
    if (session.state !== 'ready') {
      throw agentError('SESSION_STATE_WRONG', `session ${sessionId} is ${session.state}, so no run can start in it`, {
        session: sessionId,
        state: session.state,
      });
    }
    const { row, isNew } = await this.runs.insertOnce(newRun(request, sessionId));
    if (!isNew) return runView(row);
    const runId = row.runId as RunId;
    if (!(await this.sessions.takeRunSlot(sessionId, runId))) {
      const error = agentError('RUN_ACTIVE', `session ${sessionId} already has a run at work`, { session: sessionId });
      await this.runs.change(runId, { state: 'failed', error: error.toBody(), endedAt: new Date() });
      throw error;
    }
    this.begin(row, systemPrompt(session.image, await this.runs.endedOf(sessionId)), onEnded);
    return runView(row);
  }

  async show(run: RunId): Promise<RunView> {
    return runView(await this.runs.get(run));
  }

  async wait(run: RunId, waitMs: number): Promise<RunView> {
    return runView(await this.runs.waitForEnd(run, waitMs));
  }

  /** Stops the run and answers when its end is on record. A run that has already ended is left as it is. */
  async cancel(run: RunId): Promise<RunView> {
    const active = this.active.get(run);
    active?.controller.abort();
    if (active) await withDeadline(active.ended, CANCEL_TIMEOUT_MS, `the end of run ${run}`);
    return this.show(run);
  }

  /** Ends the run that is on record as current but that nobody in this process works on. */
  async interrupt(run: RunEntity): Promise<void> {
    const error = agentError('RUN_INTERRUPTED', `run ${run.runId} was interrupted by a restart of agent-service`);
    await this.end(run.runId as RunId, run.sessionId as SessionId, 'failed', '', error);
  }

  async onApplicationShutdown(): Promise<void> {
    for (const { controller } of this.active.values()) controller.abort(new Error('agent-service is stopping'));
    await Promise.allSettled([...this.active.values()].map(({ ended }) => ended));
  }

  private begin(row: RunEntity, system: string, onEnded: (run: RunEntity) => Promise<void>): void {
    const runId = row.runId as RunId;
    const controller = new AbortController();
    const ended = this.work(row, system, controller.signal)
      .then(async () => {
        this.active.delete(runId);
        await onEnded(await this.runs.get(runId));
      })
      .catch((e: unknown) => this.log.error(`the end of run ${runId} could not be recorded`, e));
    this.active.set(runId, { controller, ended });
  }

  private async work(row: RunEntity, system: string, signal: AbortSignal): Promise<void> {
    const runId = row.runId as RunId;
    const sessionId = row.sessionId as SessionId;
    try {
      await this.runs.change(runId, { state: 'running' });
      await this.transcripts.append(sessionId, runId, 'run_started', {
        prompt: row.prompt,
        model: this.config.modelName,
      });
      const summary = await this.loop.run({ runId, sessionId, system, prompt: row.prompt, signal });
      await this.end(runId, sessionId, 'completed', summary, null);
    } catch (e) {
      if (!isDomainError(e) && !signal.aborted) this.log.error(`run ${runId} failed unexpectedly`, e);
      await this.end(runId, sessionId, signal.aborted ? 'cancelled' : 'failed', '', toDomainError(e));
    }
  }

  private async end(
    runId: RunId,
    sessionId: SessionId,
    state: RunState,
    summary: string,
    error: DomainError | null,
  ): Promise<void> {
    const told = summary === '' ? (error?.message ?? '') : summary;
    await this.transcripts.append(sessionId, runId, 'run_ended', { outcome: outcomeOf(state, error), summary: told });
    await this.sessions.releaseRunSlot(sessionId, runId);
    await this.runs.change(runId, {
      state,
      summary,
      error: state === 'failed' ? (error?.toBody() ?? null) : null,
      endedAt: new Date(),
    });
  }
}

function outcomeOf(state: RunState, error: DomainError | null): RunOutcome {
  if (state === 'completed') return 'done';
  if (state === 'cancelled') return 'cancelled';
  return error?.code === 'RUN_MACHINE_LOST' ? 'machine_lost' : 'failed';
}

const newRun = (request: SubmitRunRequest, sessionId: SessionId): RunEntity => ({
  runId: newId<RunId>('run'),
  requestId: request.requestId,
  sessionId,
  state: 'pending',
  prompt: request.prompt,
  summary: '',
  turns: 0,
  closeWhenDone: request.closeWhenDone,
  error: null,
  startedAt: new Date(),
  endedAt: null,
});
