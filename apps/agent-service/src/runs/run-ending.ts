import { Injectable, Logger } from '@nestjs/common';
import { agentError, RUN_SUMMARY_LENGTH } from '@inquest/contracts-agent';
import { hasCode, toDomainError, type DomainError, type SessionId } from '@inquest/kernel';
import { untilStored } from '@inquest/persistence';
import type { Entry, RunOutcome } from '@inquest/transcript';
import { ConfirmationsService } from '../confirmations/confirmations.service';
import { Redaction } from '../transcript/redaction';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { RunEntity } from './run.entity';
import { RunsRepository } from './runs.repository';

/** How a run ended, before it is on record. */
export type RunEnd =
  | { readonly state: 'completed'; readonly summary: string }
  | { readonly state: 'cancelled' }
  | { readonly state: 'failed'; readonly error: DomainError };

/** Puts the end of a run on record, in the transcript once, whatever interrupts it. */
@Injectable()
export class RunEnding {
  private readonly log = new Logger(RunEnding.name);

  constructor(
    private readonly runs: RunsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly redaction: Redaction,
    private readonly confirmations: ConfirmationsService,
  ) {}

  /** The transcript first, then the rows; those are tried until the database takes them or `signal` aborts. */
  async record(run: RunEntity, end: RunEnd, signal: AbortSignal): Promise<void> {
    const sessionId = run.sessionId as SessionId;
    await this.transcripts.append(sessionId, run.runId, 'run_ended', { outcome: outcomeOf(end), summary: toldOf(end) });
    const write = async (): Promise<void> => {
      await this.transcripts.catchUp(sessionId);
      await this.finish(run, end);
    };
    await untilStored(write, {
      signal,
      onRetry: (e) => this.log.warn(`the end of run ${run.runId} is not stored yet`, e),
    });
    // They are in the transcript already, but for those whose end the database did not take in time.
    await this.confirmations.complete(run.runId).catch((e: unknown) => {
      this.log.warn(`the transcript may not say how the confirmations of run ${run.runId} ended`, e);
    });
  }

  /** Ends a run that an earlier life of this service was working on. If its end is in the transcript, that is it. */
  async interrupt(run: RunEntity): Promise<void> {
    await this.confirmations.recover(run.runId);
    const recorded = await this.recordedEnd(run);
    if (recorded !== null) return this.finish(run, endFrom(run, recorded));
    const error = agentError('RUN_INTERRUPTED', `run ${run.runId} was interrupted by a restart of agent-service`);
    await this.record(run, { state: 'failed', error }, AbortSignal.abort());
  }

  private finish(run: RunEntity, end: RunEnd): Promise<void> {
    return this.runs.finish(run, {
      state: end.state,
      summary: end.state === 'completed' ? this.redaction.text(end.summary, RUN_SUMMARY_LENGTH) : '',
      error: end.state === 'failed' ? this.redaction.error(end.error) : null,
    });
  }

  private async recordedEnd({ sessionId, runId }: RunEntity): Promise<Entry<'run_ended'> | null> {
    for await (const entry of this.transcripts.entries(sessionId as SessionId)) {
      if (entry.type === 'run_ended' && entry.runId === runId) return entry;
    }
    return null;
  }
}

/** How a run ended that `failure` stopped, after or before `signal` told it to stop. */
export function endAfter(failure: unknown, signal: AbortSignal): RunEnd {
  if (!signal.aborted) return { state: 'failed', error: toDomainError(failure) };
  return hasCode(signal.reason, 'RUN_INTERRUPTED')
    ? { state: 'failed', error: toDomainError(signal.reason) }
    : { state: 'cancelled' };
}

function outcomeOf(end: RunEnd): RunOutcome {
  if (end.state === 'completed') return 'done';
  if (end.state === 'cancelled') return 'cancelled';
  return end.error.code === 'RUN_MACHINE_LOST' ? 'machine_lost' : 'failed';
}

function toldOf(end: RunEnd): string {
  if (end.state === 'completed') return end.summary;
  return end.state === 'cancelled' ? 'cancelled on request' : end.error.message;
}

/** The end as its line tells it. The code of its error is not in there. */
function endFrom({ runId }: RunEntity, { outcome, summary }: Entry<'run_ended'>): RunEnd {
  if (outcome === 'done') return { state: 'completed', summary };
  if (outcome === 'cancelled') return { state: 'cancelled' };
  const code = outcome === 'machine_lost' ? 'RUN_MACHINE_LOST' : 'RUN_INTERRUPTED';
  return { state: 'failed', error: agentError(code, summary, { run: runId }) };
}
