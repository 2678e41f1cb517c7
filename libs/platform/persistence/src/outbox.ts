import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type ObjectLiteral } from 'typeorm';
import type { EventContract } from '@inquest/kernel';
import { currentTraceId } from '@inquest/logging';
import { encodeEvent } from '@inquest/messaging';
import type { EntityStatements } from './entity-statements';
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
    private readonly dataSource: DataSource,
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

  /**
   * Inserts a row and its event in one statement: both or neither, in one round trip to the database where a transaction
   * takes four. Throws what an insertion throws, `EVENT_OVERSIZED` and `ID_INVALID`; nothing is stored then.
   */
  async insertWithEvent<Row extends ObjectLiteral, Body extends object>(
    { statements, row }: { readonly statements: EntityStatements<Row>; readonly row: Row },
    contract: EventContract<Body>,
    idTokens: readonly string[],
    body: Body,
  ): Promise<void> {
    const { subject, json } = encodeEvent(contract, idTokens, body);
    const { sql, values } = statements.insertion(row);
    const places = [1, 2, 3].map((at) => `$${values.length + at}`).join(', ');
    await this.dataSource.query(
      `WITH "inserted" AS (${sql})
       INSERT INTO "${this.schema}"."${OUTBOX_TABLE}" ("subject", "body", "trace_id") VALUES (${places})`,
      [...values, subject, json, currentTraceId()],
    );
    this.waker.wakeNow();
  }
}
