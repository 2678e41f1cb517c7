import { Injectable } from '@nestjs/common';
import { DataSource, LessThan, type EntityManager, type FindOptionsWhere, type Repository } from 'typeorm';
import {
  agentError,
  agentEvents,
  type AnswerConfirmationRequest,
  type ConfirmationState,
} from '@inquest/contracts-agent';
import { StateWaiters } from '@inquest/kernel';
import { decodeCursor, encodeCursor, Outbox, type Page } from '@inquest/persistence';
import { confirmationView } from './confirmation-view';
import { ConfirmationEntity } from './confirmation.entity';
import { chosenBy, judgeAnswer, notOpen } from './judge-answer';

type Ending = Pick<ConfirmationEntity, 'state' | 'reason'> & Partial<ConfirmationEntity>;

/** Why a confirmation is not open any more although nobody answered it. */
export interface Lapse {
  readonly state: 'expired' | 'withdrawn';
  readonly reason: string;
}

/** Rows of confirmations. Each change and its event are one transaction, and wake whoever waits for it. */
@Injectable()
export class ConfirmationsRepository {
  private readonly rows: Repository<ConfirmationEntity>;
  private readonly waiters = new StateWaiters();

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    this.rows = database.getRepository(ConfirmationEntity);
  }

  /** Stores an open confirmation. Throws `CONFIRMATION_ACTIVE` when its run has one already. */
  async open(row: ConfirmationEntity): Promise<void> {
    await this.database.transaction(async (manager) => {
      const insert = manager.createQueryBuilder().insert().into(ConfirmationEntity).values(row);
      const inserted = await insert.orIgnore().returning('confirmation_id').execute();
      if ((inserted.raw as unknown[]).length === 0) {
        const message = `run ${row.runId} already waits for a person, so nothing more can be asked`;
        throw agentError('CONFIRMATION_ACTIVE', message, { run: row.runId });
      }
      await this.tell(manager, row);
    });
  }

  /** Throws `CONFIRMATION_UNKNOWN`. */
  async get(confirmationId: string): Promise<ConfirmationEntity> {
    return known(confirmationId, await this.rows.findOneBy({ confirmationId }));
  }

  /** All of a run, oldest first. */
  ofRun(runId: string): Promise<ConfirmationEntity[]> {
    return this.rows.find({ where: { runId }, order: { askedAt: 'ASC' } });
  }

  /** Newest first; of one state or of all. */
  async page(limit: number, token: string | null, state: ConfirmationState | null): Promise<Page<ConfirmationEntity>> {
    const cursor = decodeCursor(token);
    const among: FindOptionsWhere<ConfirmationEntity> = state === null ? {} : { state };
    const where = cursor
      ? [
          { ...among, askedAt: LessThan(new Date(cursor.at)) },
          { ...among, askedAt: new Date(cursor.at), confirmationId: LessThan(cursor.id) },
        ]
      : [among];
    const order = { askedAt: 'DESC', confirmationId: 'DESC' } as const;
    const found = await this.rows.find({ where, order, take: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, nextToken: found.length > limit && last ? tokenBehind(last) : null };
  }

  /**
   * Settles an open confirmation as a person decided. The same answer of the same request is answered as the first time.
   * Throws `CONFIRMATION_UNKNOWN`, `CONFIRMATION_MISMATCH`, `CONFIRMATION_SETTLED`, `CONFIRMATION_EXPIRED` and
   * `CONFIRMATION_CHOICE_WRONG`; only an expiry changes the row then.
   */
  async answer(request: AnswerConfirmationRequest, reason: string): Promise<ConfirmationEntity> {
    const { confirmationId } = request;
    const { row, refusal } = await this.database.transaction(async (manager) => {
      const locked = await lock(manager, confirmationId);
      const judged = judgeAnswer(locked, { ...request, reason }, Date.now());
      if (judged.kind === 'refuse') throw judged.error;
      if (judged.kind === 'replay') return { row: locked, refusal: null };
      if (judged.kind === 'expire') {
        const expired = await this.end(manager, locked, EXPIRED);
        return { row: expired, refusal: notOpen(expired) };
      }
      const { by, requestId: answerRequestId } = request;
      const ending = { state: judged.state, reason, choice: chosenBy(request), by, answerRequestId };
      return { row: await this.end(manager, locked, ending), refusal: null };
    });
    this.waiters.notify(confirmationId);
    if (refusal !== null) throw refusal;
    return row;
  }

  /** Ends a confirmation that nobody answered; one that is not open any more is left as it is. The row as it is then. */
  async lapse(confirmationId: string, lapse: Lapse): Promise<ConfirmationEntity> {
    const row = await this.database.transaction(async (manager) => {
      const locked = await lock(manager, confirmationId);
      return locked.state === 'open' ? this.end(manager, locked, lapse) : locked;
    });
    this.waiters.notify(confirmationId);
    return row;
  }

  /**
   * Withdraws what is open of a run or of a session, in a transaction of the caller's, who calls `notify` with what it
   * gave back once that is committed.
   */
  async withdraw(
    manager: EntityManager,
    of: { readonly runId: string } | { readonly sessionId: string },
    reason: string,
  ): Promise<ConfirmationEntity[]> {
    const open = await manager.find(ConfirmationEntity, { where: { ...of, state: 'open' }, lock: FOR_UPDATE });
    const withdrawn: ConfirmationEntity[] = [];
    for (const row of open) withdrawn.push(await this.end(manager, row, { state: 'withdrawn', reason }));
    return withdrawn;
  }

  /** Wakes those who wait for these. */
  notify(rows: readonly Pick<ConfirmationEntity, 'confirmationId'>[]): void {
    for (const { confirmationId } of rows) this.waiters.notify(confirmationId);
  }

  /** The confirmation once it `isWanted`, or as it is after `waitMs`. */
  waitFor(
    confirmationId: string,
    isWanted: (row: ConfirmationEntity) => boolean,
    waitMs: number,
  ): Promise<ConfirmationEntity> {
    return this.waiters.wait(confirmationId, () => this.get(confirmationId), isWanted, waitMs);
  }

  /** On a row that is locked. */
  private async end(manager: EntityManager, row: ConfirmationEntity, ending: Ending): Promise<ConfirmationEntity> {
    const change = { ...ending, endedAt: new Date() };
    await manager.update(ConfirmationEntity, { confirmationId: row.confirmationId }, change);
    const ended = { ...row, ...change };
    await this.tell(manager, ended);
    return ended;
  }

  private tell(manager: EntityManager, row: ConfirmationEntity): Promise<void> {
    return this.outbox.add(manager, agentEvents.confirmationChanged, [row.sessionId], confirmationView(row));
  }
}

/** Nobody answered in time. */
export const EXPIRED: Lapse = { state: 'expired', reason: 'nobody answered in time' };

/** What a listing continues behind. */
export const tokenBehind = ({ askedAt, confirmationId }: ConfirmationEntity): string =>
  encodeCursor({ at: askedAt.getTime(), id: confirmationId });

const FOR_UPDATE = { mode: 'pessimistic_write' } as const;

async function lock(manager: EntityManager, confirmationId: string): Promise<ConfirmationEntity> {
  const row = await manager.findOne(ConfirmationEntity, { where: { confirmationId }, lock: FOR_UPDATE });
  return known(confirmationId, row);
}

function known(confirmation: string, row: ConfirmationEntity | null): ConfirmationEntity {
  if (row !== null) return row;
  throw agentError('CONFIRMATION_UNKNOWN', `no confirmation ${confirmation} is known`, { confirmation });
}
