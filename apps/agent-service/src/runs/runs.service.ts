import { Injectable, Logger } from '@nestjs/common';
import { agentError, type RunState, type RunView, type SubmitRunRequest } from '@inquest/contracts-agent';
import { isDomainError, newId, withDeadline, type RunId, type SessionId } from '@inquest/kernel';
import { AgentServiceConfig } from '../agent-service.config';
import { ConfirmationsService } from '../confirmations/confirmations.service';
import { SessionsRepository } from '../sessions/sessions.repository';
import { Redaction } from '../transcript/redaction';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { RunEntity } from './run.entity';
import { endAfter, RunEnding, type RunEnd } from './run-ending';
import { RunLoop } from './run-loop';
import { runView } from './run-view';
import { RunsRepository } from './runs.repository';
import { REMEMBERED_RUNS, systemPrompt } from './system-prompt';

interface ActiveRun {
  readonly controller: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

type OnRunEnded = (state: RunState) => Promise<void>;

/** How long a cancelled run has to put its end on record. */
const CANCEL_TIMEOUT_MS = 10_000;

/** Submits, watches and cancels runs. One run at a time works in a session. */
@Injectable()
export class RunsService {
  private readonly log = new Logger(RunsService.name);
  private readonly active = new Map<RunId, ActiveRun>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly config: AgentServiceConfig,
    private readonly sessions: SessionsRepository,
    private readonly runs: RunsRepository,
    private readonly loop: RunLoop,
    private readonly ending: RunEnding,
    private readonly transcripts: TranscriptsService,
    private readonly redaction: Redaction,
    private readonly confirmations: ConfirmationsService,
  ) {}

  /**
   * Accepts a run and starts it; the same request id answers with the same run. `onEnded` is called once its end is on
   * record, however it ended. Throws `SESSION_UNKNOWN`, `SESSION_STATE_WRONG`, `RUN_ACTIVE`, `RUN_INTERRUPTED` while the service
   * stops.
   */
  async submit(request: SubmitRunRequest, onEnded: OnRunEnded): Promise<RunView> {
    if (this.stopping.signal.aborted) throw interrupted('agent-service is stopping, so no run can start');
    // The model gets the prompt as it is; what is written down is redacted.
    const { row, isNew, withdrawn } = await this.runs.admit(newRun(request, this.redaction.redact(request.prompt)));
    await this.confirmations.noteEnds(withdrawn);
    if (isNew) this.begin(row, request.prompt, onEnded);
    return runView(row);
  }

  /** Throws `RUN_UNKNOWN`. */
  async show(run: RunId): Promise<RunView> {
    return runView(await this.runs.get(run));
  }

  /** The run once it has ended, or as it is after `waitMs`. Throws `RUN_UNKNOWN`. */
  async wait(run: RunId, waitMs: number): Promise<RunView> {
    return runView(await this.runs.waitForEnd(run, waitMs));
  }

  /**
   * Stops the run and answers when its end is on record. A run that has already ended is left as it is. Throws
   * `RUN_UNKNOWN`, `DEADLINE_EXCEEDED`.
   */
  async cancel(run: RunId): Promise<RunView> {
    const active = this.active.get(run);
    active?.controller.abort();
    if (active) await withDeadline(active.ended, CANCEL_TIMEOUT_MS, `the end of run ${run}`);
    return this.show(run);
  }

  /** Interrupts every run and takes no new ones; resolves when their ends are on record. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const [run, { controller }] of this.active) {
      controller.abort(interrupted(`run ${run} was interrupted: agent-service is stopping`));
    }
    await Promise.all([...this.active.values()].map(({ ended }) => ended));
  }

  private begin(row: RunEntity, prompt: string, onEnded: OnRunEnded): void {
    const runId = row.runId as RunId;
    const controller = new AbortController();
    const ended = this.workAndRecord(row, prompt, controller.signal)
      .then(onEnded)
      .catch((e: unknown) => this.log.error(`the end of run ${runId} could not be recorded`, e))
      .finally(() => this.active.delete(runId));
    this.active.set(runId, { controller, ended });
  }

  private async workAndRecord(row: RunEntity, prompt: string, signal: AbortSignal): Promise<RunState> {
    const end = await this.work(row, prompt, signal);
    await this.ending.record(row, end, this.stopping.signal);
    return end.state;
  }

  /** Never rejects: every way out is an end of the run. */
  private async work(row: RunEntity, prompt: string, signal: AbortSignal): Promise<RunEnd> {
    const runId = row.runId as RunId;
    const sessionId = row.sessionId as SessionId;
    try {
      await this.runs.change(runId, { state: 'running' });
      await this.transcripts.append(sessionId, runId, 'run_started', {
        prompt: row.prompt,
        model: this.config.modelName,
      });
      const { image } = await this.sessions.get(sessionId);
      const system = systemPrompt(image, await this.runs.endedOf(sessionId, REMEMBERED_RUNS));
      return {
        state: 'completed',
        summary: await this.loop.run({ runId, sessionId, system, prompt, confirm: row.confirm, signal }),
      };
    } catch (e) {
      if (!isDomainError(e) && !signal.aborted) this.log.error(`run ${runId} failed unexpectedly`, e);
      return endAfter(e, signal);
    }
  }
}

const interrupted = (message: string) => agentError('RUN_INTERRUPTED', message);

const newRun = (request: SubmitRunRequest, prompt: string): RunEntity => ({
  runId: newId<RunId>('run'),
  requestId: request.requestId,
  sessionId: request.sessionId,
  state: 'pending',
  prompt,
  summary: '',
  turns: 0,
  closeWhenDone: request.closeWhenDone,
  confirm: request.confirm,
  error: null,
  startedAt: new Date(),
  endedAt: null,
});
