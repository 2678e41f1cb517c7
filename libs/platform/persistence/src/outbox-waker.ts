import { Injectable } from '@nestjs/common';
import type { EntitySubscriberInterface, QueryRunner, TransactionCommitEvent } from 'typeorm';

/** Injection token of the schema whose outbox this process uses. */
export const OUTBOX_SCHEMA = Symbol('OUTBOX_SCHEMA');

/** Tells the relay that a transaction with new events was committed in this process. */
@Injectable()
export class OutboxWaker implements EntitySubscriberInterface {
  private readonly withEvents = new WeakSet<QueryRunner>();
  private wake: () => void = () => undefined;

  /** One listener: the relay. */
  onWake(listener: () => void): void {
    this.wake = listener;
  }

  /** After a statement that was a transaction by itself. */
  wakeNow(): void {
    this.wake();
  }

  wakeAfterCommit(runner: QueryRunner): void {
    this.withEvents.add(runner);
  }

  /** Called by TypeORM after every commit, also of a savepoint; waking too early only costs one look. */
  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    if (this.withEvents.delete(queryRunner)) this.wake();
  }
}
