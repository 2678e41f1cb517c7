import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { EventContract } from '@inquest/kernel';
import { currentTraceId } from '@inquest/logging';
import { encodeEvent } from '@inquest/messaging';
import { persistenceError } from './errors';
import { OUTBOX_TABLE } from './outbox.migration';
import { OUTBOX_SCHEMA, OutboxWaker } from './outbox-waker';

/**
 * Records events in the transaction that changes the state they tell of, so that neither exists without the other. The
 * relay publishes them after the commit: at least once, and in order for all writers that lock the row they change
 * before they add its event.
 */
@Injectable()
export class Outbox {
  constructor(
    @Inject(OUTBOX_SCHEMA) private readonly schema: string,
    private readonly waker: OutboxWaker,
  ) {}

  /**
   * Adds an event to the transaction of `manager`. Throws `OUTBOX_TRANSACTION_MISSING`, `EVENT_OVERSIZED` and
   * `ID_INVALID`; the transaction is then still usable.
   */
  async add<Body extends object>(
    manager: EntityManager,
    contract: EventContract<Body>,
    idTokens: readonly string[],
    body: Body,
  ): Promise<void> {
    const runner = manager.queryRunner;
    if (runner?.isTransactionActive !== true) {
      throw persistenceError(
        'OUTBOX_TRANSACTION_MISSING',
        `an event of ${contract.subject} was added outside of a transaction`,
        {
          subject: contract.subject,
        },
      );
    }
    const { subject, json } = encodeEvent(contract, idTokens, body);
    await manager.query(
      `INSERT INTO "${this.schema}"."${OUTBOX_TABLE}" ("subject", "body", "trace_id") VALUES ($1, $2, $3)`,
      [subject, json, currentTraceId()],
    );
    this.waker.wakeAfterCommit(runner);
  }
}
