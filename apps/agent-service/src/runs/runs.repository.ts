import { Injectable } from '@nestjs/common';
import { DataSource, In, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { agentError, RUN_STATES, type RunState } from '@inquest/contracts-agent';
import { StateWaiters, type RunId, type SessionId } from '@inquest/kernel';
import { RunEntity } from './run.entity';

export const RUN_ENDED_STATES: readonly RunState[] = RUN_STATES.filter((s) => s !== 'pending' && s !== 'running');

/** Rows of runs. Every change goes through `change`, which wakes whoever waits for it. */
@Injectable()
export class RunsRepository {
  private readonly rows: Repository<RunEntity>;
  private readonly waiters = new StateWaiters();

  constructor(database: DataSource) {
    this.rows = database.getRepository(RunEntity);
  }

  /** Inserts, or gives back the run that the same request id made before. */
  async insertOnce(row: RunEntity): Promise<{ readonly row: RunEntity; readonly isNew: boolean }> {
    const result = await this.rows.createQueryBuilder().insert().values(row).orIgnore().returning('run_id').execute();
    if ((result.raw as unknown[]).length > 0 || row.requestId === null) return { row, isNew: true };
    return { row: await this.rows.findOneByOrFail({ requestId: row.requestId }), isNew: false };
  }

  /** Throws `RUN_UNKNOWN`. */
  async get(run: RunId): Promise<RunEntity> {
    const row = await this.rows.findOneBy({ runId: run });
    if (row === null) throw agentError('RUN_UNKNOWN', `no run ${run} is known`, { run });
    return row;
  }

  /** Runs of a session that have ended, oldest first. */
  endedOf(session: SessionId): Promise<RunEntity[]> {
    return this.rows.find({
      where: { sessionId: session, state: In([...RUN_ENDED_STATES]) },
      order: { startedAt: 'ASC' },
    });
  }

  /** Runs that a process was working on. */
  unfinished(): Promise<RunEntity[]> {
    return this.rows.findBy({ state: In(['pending', 'running']) });
  }

  async change(run: RunId, change: QueryDeepPartialEntity<RunEntity>): Promise<void> {
    await this.rows.update({ runId: run }, change);
    this.waiters.notify(run);
  }

  /** The run once it has ended, or as it is after `waitMs`. */
  waitForEnd(run: RunId, waitMs: number): Promise<RunEntity> {
    return this.waiters.wait(
      run,
      () => this.get(run),
      (row) => RUN_ENDED_STATES.includes(row.state),
      waitMs,
    );
  }
}
