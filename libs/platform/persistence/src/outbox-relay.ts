import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { delay } from '@inquest/kernel';
import { EventBus } from '@inquest/messaging';
import { OUTBOX_TABLE } from './outbox.migration';
import { OUTBOX_SCHEMA, OutboxWaker } from './outbox-waker';

interface OutboxRow {
  readonly id: string;
  readonly message_id: string;
  readonly subject: string;
  readonly body: string;
  readonly trace_id: string | null;
}

/** Events per transaction: a crash repeats at most so many, and JetStream drops those by their message id. */
const BATCH = 100;
/** Events of other processes, and of one that died between commit and publish, wait at most this long. */
const POLL_MS = 1_000;
const LAST_RETRY_MS = 5_000;
/** After a commit: whoever is about to answer a request is not to share the processor with the relay; and what follows at once goes along. */
const SETTLE_MS = 20;
/** First key of the advisory lock of relays: the letters "outb". The second is the schema. */
const RELAY_LOCK = 0x6f757462;

/**
 * Publishes what the outbox holds, oldest first, and deletes it once the stream has stored it. Of several processes on
 * one schema only one relays at a time, so that they cannot overtake one another. Keeps trying while NATS or Postgres
 * is away.
 */
@Injectable()
export class OutboxRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxRelay.name);
  private readonly stopping = new AbortController();
  private woken: AbortController = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(OUTBOX_SCHEMA) private readonly schema: string,
    private readonly dataSource: DataSource,
    private readonly bus: EventBus,
    private readonly waker: OutboxWaker,
  ) {}

  onApplicationBootstrap(): void {
    this.waker.onWake(() => this.woken.abort());
    this.running = this.relayUntilStopped();
  }

  /**
   * Finishes the event at hand while the database is still open. What is left, and what requests that are still at work
   * add, is published by the next process.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Publishes up to one batch; how many there were. Throws what the bus and the database throw. */
  async relayBatch(): Promise<number> {
    const { count, failure } = await this.dataSource.transaction((manager) => this.relayIn(manager));
    if (failure !== null) throw failure;
    return count;
  }

  private async relayIn(manager: EntityManager): Promise<{ readonly count: number; readonly failure: Error | null }> {
    if (!(await this.isOnlyRelay(manager))) return { count: 0, failure: null };
    const rows = await manager.query<OutboxRow[]>(
      `SELECT "id", "message_id", "subject", "body", "trace_id" FROM ${this.table}
       ORDER BY "id" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`,
    );
    const published: string[] = [];
    const failure = await this.publishInOrder(rows, published);
    // Also after a failure: what was stored must not be published again by a later batch.
    if (published.length > 0) {
      await manager.query(`DELETE FROM ${this.table} WHERE "id" = ANY($1::bigint[])`, [published]);
    }
    return { count: published.length, failure };
  }

  private get table(): string {
    return `"${this.schema}"."${OUTBOX_TABLE}"`;
  }

  private async relayUntilStopped(): Promise<void> {
    let retryMs = POLL_MS;
    while (!this.stopping.signal.aborted) {
      this.woken = new AbortController();
      const found = await this.relayBatch().catch((e: unknown) => {
        this.logger.warn(`events wait in the outbox of "${this.schema}"`, e);
        return null;
      });
      retryMs = found === null ? Math.min(retryMs * 2, LAST_RETRY_MS) : POLL_MS;
      if (found === BATCH) continue;
      // A failure is not cured by more events: only a success may be woken early.
      const early = found === null ? [] : [this.woken.signal];
      await delay(retryMs, AbortSignal.any([this.stopping.signal, ...early])).catch(() => undefined);
      if (this.woken.signal.aborted) await delay(SETTLE_MS, this.stopping.signal).catch(() => undefined);
    }
  }

  private async isOnlyRelay(manager: EntityManager): Promise<boolean> {
    const [row] = await manager.query<{ readonly locked: boolean }[]>(
      'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS "locked"',
      [RELAY_LOCK, this.schema],
    );
    return row?.locked === true;
  }

  /** Adds the ids of stored events to `published`; the failure that stopped it, or null. */
  private async publishInOrder(rows: readonly OutboxRow[], published: string[]): Promise<Error | null> {
    for (const { id, message_id: messageId, subject, body, trace_id: traceId } of rows) {
      if (this.stopping.signal.aborted) return null;
      try {
        await this.bus.publishEncoded({ subject, json: body }, { messageId, traceId });
      } catch (e) {
        return e as Error;
      }
      published.push(id);
    }
    return null;
  }
}
