import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { agentError, RUN_STATES, type RunState } from '@inquest/contracts-agent';
import { StateWaiters, type RunId, type SessionId } from '@inquest/kernel';
import type { ConfirmationEntity } from '../confirmations/confirmation.entity';
import { ConfirmationsRepository } from '../confirmations/confirmations.repository';
import { SessionEntity } from '../sessions/session.entity';
import { SessionsRepository } from '../sessions/sessions.repository';
import { RunEntity } from './run.entity';

const RUN_ENDED_STATES: readonly RunState[] = RUN_STATES.filter((s) => s !== 'pending' && s !== 'running');

/** A run as it was accepted. */
export interface AdmittedRun {
  readonly row: RunEntity;
  readonly isNew: boolean;
  /** Confirmations of earlier runs of the session that nobody had answered. */
  readonly withdrawn: readonly ConfirmationEntity[];
}

/** Rows of runs. Every change goes through here, which wakes whoever waits for it. */
@Injectable()
export class RunsRepository {
  private readonly rows: Repository<RunEntity>;
  private readonly waiters = new StateWaiters();

  constructor(
    private readonly database: DataSource,
    private readonly sessions: SessionsRepository,
    private readonly confirmations: ConfirmationsRepository,
  ) {
    this.rows = database.getRepository(RunEntity);
  }

  /**
   * Inserts a run, makes it the current one of its session and withdraws what was still asked in that one, all or
   * nothing. Gives back the run that the same request id made before, if one did. Throws `SESSION_UNKNOWN`,
   * `SESSION_STATE_WRONG`, `RUN_ACTIVE`; then no run is left behind.
   */
  async admit(row: RunEntity): Promise<AdmittedRun> {
    const withdrawn = await this.database.transaction(async (manager) => {
      const insert = manager.createQueryBuilder().insert().into(RunEntity).values(row);
      const inserted = await insert.orIgnore().returning('run_id').execute();
      if ((inserted.raw as unknown[]).length === 0) return null;
      const free = { sessionId: row.sessionId, state: 'ready' as const, currentRunId: IsNull() };
      const taken = await manager.update(SessionEntity, free, { currentRunId: row.runId });
      if (taken.affected !== 1) throw await this.refusal(row.sessionId as SessionId);
      return this.confirmations.withdraw(manager, { sessionId: row.sessionId }, 'another run was submitted');
    });
    this.confirmations.notify(withdrawn ?? []);
    if (withdrawn !== null || row.requestId === null) return { row, isNew: true, withdrawn: withdrawn ?? [] };
    return { row: await this.rows.findOneByOrFail({ requestId: row.requestId }), isNew: false, withdrawn: [] };
  }

  /** Throws `RUN_UNKNOWN`. */
  async get(run: RunId): Promise<RunEntity> {
    const row = await this.rows.findOneBy({ runId: run });
    if (row === null) throw agentError('RUN_UNKNOWN', `no run ${run} is known`, { run });
    return row;
  }

  /** The newest runs of a session that have ended, at most `limit`, oldest first. */
  async endedOf(session: SessionId, limit: number): Promise<RunEntity[]> {
    const newest = await this.rows.find({
      where: { sessionId: session, state: In([...RUN_ENDED_STATES]) },
      order: { startedAt: 'DESC' },
      take: limit,
    });
    return newest.reverse();
  }

  /** The run of a session that was submitted last; null when it had none. */
  lastOf(session: SessionId): Promise<RunEntity | null> {
    return this.rows.findOne({ where: { sessionId: session }, order: { startedAt: 'DESC' } });
  }

  /** Runs that a process was working on. */
  unfinished(): Promise<RunEntity[]> {
    return this.rows.findBy({ state: In(['pending', 'running']) });
  }

  async change(run: RunId, change: QueryDeepPartialEntity<RunEntity>): Promise<void> {
    await this.rows.update({ runId: run }, change);
    this.waiters.notify(run);
  }

  /**
   * Puts the end of a run on record, withdraws what it still asked and frees its session for the next one, all or
   * nothing. May be repeated.
   */
  async finish({ runId, sessionId }: RunEntity, end: Pick<RunEntity, 'state' | 'summary' | 'error'>): Promise<void> {
    const withdrawn = await this.database.transaction(async (manager) => {
      await manager.update(RunEntity, { runId }, { ...end, endedAt: new Date() });
      await manager.update(SessionEntity, { sessionId, currentRunId: runId }, { currentRunId: null });
      return this.confirmations.withdraw(manager, { runId }, 'the run ended');
    });
    this.confirmations.notify(withdrawn);
    this.waiters.notify(runId);
    this.sessions.notify(sessionId as SessionId);
  }

  /** The run once it has ended, or as it is after `waitMs`. */
  waitForEnd(run: RunId, waitMs: number): Promise<RunEntity> {
    return this.waiters.wait(run, () => this.get(run), hasEnded, waitMs);
  }

  private async refusal(sessionId: SessionId): Promise<Error> {
    const { state, currentRunId } = await this.sessions.get(sessionId);
    return state === 'ready' && currentRunId !== null
      ? agentError('RUN_ACTIVE', `run ${currentRunId} is at work in session ${sessionId}`, {
          session: sessionId,
          run: currentRunId,
        })
      : agentError('SESSION_STATE_WRONG', `session ${sessionId} is ${state}, so no run can start in it`, {
          session: sessionId,
          state,
        });
  }
}

export const hasEnded = ({ state }: RunEntity): boolean => RUN_ENDED_STATES.includes(state);
