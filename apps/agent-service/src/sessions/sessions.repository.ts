import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan, type FindOptionsWhere, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { agentError, type SessionState } from '@inquest/contracts-agent';
import { StateWaiters, type SessionId } from '@inquest/kernel';
import { decodeCursor, encodeCursor, type Page } from '@inquest/persistence';
import { SessionEntity } from './session.entity';

export type SessionChange = QueryDeepPartialEntity<SessionEntity>;

/** Rows of sessions. Every change of state goes through `change`, which wakes whoever waits for it. */
@Injectable()
export class SessionsRepository {
  private readonly rows: Repository<SessionEntity>;
  private readonly waiters = new StateWaiters();

  constructor(database: DataSource) {
    this.rows = database.getRepository(SessionEntity);
  }

  /** Inserts, or gives back the session that the same request id made before. */
  async insertOnce(row: SessionEntity): Promise<{ readonly row: SessionEntity; readonly isNew: boolean }> {
    const result = await this.rows
      .createQueryBuilder()
      .insert()
      .values(row)
      .orIgnore()
      .returning('session_id')
      .execute();
    if ((result.raw as unknown[]).length > 0 || row.requestId === null) return { row, isNew: true };
    return { row: await this.rows.findOneByOrFail({ requestId: row.requestId }), isNew: false };
  }

  /** Throws `SESSION_UNKNOWN`. */
  async get(session: SessionId): Promise<SessionEntity> {
    const row = await this.rows.findOneBy({ sessionId: session });
    if (row === null) throw agentError('SESSION_UNKNOWN', `no session ${session} is known`, { session });
    return row;
  }

  inStates(states: readonly SessionState[]): Promise<SessionEntity[]> {
    return this.rows.findBy({ state: In([...states]) });
  }

  /** Newest first. */
  async page(limit: number, token: string | null): Promise<Page<SessionEntity>> {
    const cursor = decodeCursor(token);
    const where: FindOptionsWhere<SessionEntity>[] = cursor
      ? [{ openedAt: LessThan(new Date(cursor.at)) }, { openedAt: new Date(cursor.at), sessionId: LessThan(cursor.id) }]
      : [{}];
    const found = await this.rows.find({ where, order: { openedAt: 'DESC', sessionId: 'DESC' }, take: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const nextToken =
      found.length > limit && last ? encodeCursor({ at: last.openedAt.getTime(), id: last.sessionId }) : null;
    return { items, nextToken };
  }

  /** Throws what the database throws. */
  async change(session: SessionId, change: SessionChange): Promise<void> {
    await this.rows.update({ sessionId: session }, change);
    this.waiters.notify(session);
  }

  /** Changes only when the session is in one of `from`; false when it was not. The way two closers agree on one. */
  async changeFrom(session: SessionId, from: readonly SessionState[], change: SessionChange): Promise<boolean> {
    const result = await this.rows.update({ sessionId: session, state: In([...from]) }, change);
    this.waiters.notify(session);
    return result.affected === 1;
  }

  /** Tells those who wait that the row was changed elsewhere. */
  notify(session: SessionId): void {
    this.waiters.notify(session);
  }

  /** The session once it is in one of `states`, or as it is after `waitMs`. */
  waitFor(session: SessionId, states: readonly SessionState[], waitMs: number): Promise<SessionEntity> {
    return this.waiters.wait(
      session,
      () => this.get(session),
      (row) => states.includes(row.state),
      waitMs,
    );
  }
}
