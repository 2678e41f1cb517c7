import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsInt } from 'class-validator';
import { Column, DataSource, Entity, PrimaryColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CleanupStack, event } from '@inquest/kernel';
import { EventBus, MessagingModule } from '@inquest/messaging';
import { eventually, startNats, startPostgres, type NatsFixture, type PostgresFixture } from '@inquest/testing';
import { EntityStatements } from './entity-statements';
import { inTransaction } from './in-transaction';
import { Outbox } from './outbox';
import { outboxMigration } from './outbox.migration';
import { OutboxRelay } from './outbox-relay';
import { PersistenceModule } from './persistence.module';

class Counted {
  @IsInt() readonly value!: number;
}

@Entity({ name: 'note' })
class Note {
  @PrimaryColumn({ name: 'note_id', type: 'varchar' }) noteId!: string;
  @Column({ type: 'jsonb' }) words!: string[];
  @Column({ name: 'written_at', type: 'timestamptz', precision: 3, nullable: true }) writtenAt!: Date | null;
}
class Notes1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE "probe"."note" ("note_id" varchar PRIMARY KEY, "words" jsonb NOT NULL, "written_at" timestamptz(3))',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "probe"."note"');
  }
}
const counted = event({ subject: 'inquest.v1.evt.probe.counted', body: Counted });

describe('the outbox on a real Postgres and JetStream', () => {
  const cleanup = new CleanupStack();
  let nats: NatsFixture;
  let postgres: PostgresFixture;
  let databaseUrl: string;

  beforeAll(async () => {
    nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    postgres = await startPostgres();
    cleanup.defer('postgres', () => postgres.stop());
    databaseUrl = await postgres.createDatabase();
  }, 120_000);

  afterAll(() => cleanup.run(), 60_000);

  /** One instance of a service. `relays: false`: as if it died before it could publish. */
  async function withService(work: (app: INestApplicationContext) => Promise<void>, relays = true): Promise<void> {
    @Module({
      imports: [
        MessagingModule.forRoot({ serviceName: 'probe', natsUrl: nats.url, nodeId: 'a' }),
        PersistenceModule.forRoot({
          schema: 'probe',
          entities: [Note],
          migrations: [outboxMigration('probe'), Notes1700000000001],
          databaseUrl,
        }),
      ],
    })
    class ServiceModule {}
    const app = await NestFactory.create(ServiceModule, { logger: false, abortOnError: false });
    if (!relays) app.get(OutboxRelay).onApplicationBootstrap = () => undefined;
    await app.init();
    try {
      await work(app);
    } finally {
      await app.close();
    }
  }

  const add = (app: INestApplicationContext, id: string, value: number): Promise<void> =>
    inTransaction(app.get(DataSource), (manager) => app.get(Outbox).add(manager, counted, [id], { value }));

  /** The first `count` values that the stream holds for an id. */
  async function published(app: INestApplicationContext, id: string, count: number): Promise<number[]> {
    const stop = new AbortController();
    const values: number[] = [];
    for await (const { body } of app.get(EventBus).subscribe(counted, { ids: [id], signal: stop.signal })) {
      values.push(body.value);
      if (values.length === count) stop.abort();
    }
    return values;
  }

  const waiting = async (app: INestApplicationContext): Promise<number> => {
    const [row] = await app
      .get(DataSource)
      .query<{ count: number }[]>('SELECT count(*)::int AS "count" FROM "probe"."outbox_event"');
    return row?.count ?? -1;
  };

  it('publishes what was committed, in order, and forgets it', async () => {
    await withService(async (app) => {
      const values = Array.from({ length: 250 }, (_, i) => i);
      for (const value of values) await add(app, 'order', value);
      await expect(published(app, 'order', values.length)).resolves.toEqual(values);
      await eventually(async () => (await waiting(app)) === 0);
    });
  }, 60_000);

  it('publishes nothing of a transaction that was rolled back', async () => {
    await withService(async (app) => {
      const work = inTransaction(app.get(DataSource), async (manager) => {
        await app.get(Outbox).add(manager, counted, ['rollback'], { value: 1 });
        throw new Error('on second thought');
      });
      await expect(work).rejects.toThrow('on second thought');
      await add(app, 'rollback', 2);
      await expect(published(app, 'rollback', 1)).resolves.toEqual([2]);
    });
  }, 60_000);

  it('publishes after a crash between commit and publish', async () => {
    await withService(async (app) => {
      await add(app, 'crash', 1);
      await add(app, 'crash', 2);
    }, false);
    await withService(async (app) => {
      await expect(published(app, 'crash', 2)).resolves.toEqual([1, 2]);
    });
  }, 60_000);

  it('stores an event once when the crash came between publish and forgetting', async () => {
    await withService(async (app) => {
      await add(app, 'repeat', 1);
      const [row] = await app
        .get(DataSource)
        .query<{ message_id: string; subject: string; body: string }[]>('SELECT * FROM "probe"."outbox_event"');
      if (row === undefined) throw new Error('the outbox is empty');
      const encoded = { subject: row.subject, json: row.body };
      await app.get(EventBus).publishEncoded(encoded, { messageId: row.message_id, traceId: null });
    }, false);
    await withService(async (app) => {
      await eventually(async () => (await waiting(app)) === 0);
      await add(app, 'repeat', 2);
      await expect(published(app, 'repeat', 2)).resolves.toEqual([1, 2]);
    });
  }, 60_000);

  it('keeps events while NATS is away, and the order when two instances relay', async () => {
    await withService(async (first) => {
      await withService(async (second) => {
        await nats.kill();
        for (let value = 0; value < 20; value++) await add(value % 2 === 0 ? first : second, 'away', value);
        expect(await waiting(first)).toBe(20);
        await nats.restart();
        await expect(published(first, 'away', 20)).resolves.toEqual(Array.from({ length: 20 }, (_, i) => i));
      });
    });
  }, 120_000);

  it('survives a restart of Postgres', async () => {
    await withService(async (app) => {
      await postgres.restart();
      await eventually(() => add(app, 'restart', 1), { timeoutMs: 30_000 });
      const [value] = await published(app, 'restart', 1);
      expect(value).toBe(1);
    });
  }, 120_000);

  it('stores a row and its event in one statement, and neither of them when one is refused', async () => {
    await withService(async (app) => {
      const dataSource = app.get(DataSource);
      const statements = new EntityStatements(dataSource, Note);
      const insert = (row: Note, value: number): Promise<void> =>
        app.get(Outbox).insertWithEvent({ statements, row }, counted, ['note'], { value });
      const first = { noteId: 'a', words: ['x', '"'], writtenAt: new Date(1_700_000_000_123) };
      await insert(first, 1);
      await expect(insert({ ...first, words: [] }, 2)).rejects.toMatchObject({ code: '23505' });
      await insert({ noteId: 'b', words: [], writtenAt: null }, 3);
      await expect(published(app, 'note', 2)).resolves.toEqual([1, 3]);
      await expect(dataSource.getRepository(Note).find({ order: { noteId: 'ASC' } })).resolves.toEqual([
        first,
        { noteId: 'b', words: [], writtenAt: null },
      ]);
    });
  }, 60_000);

  it('refuses an event outside of a transaction', async () => {
    await withService(async (app) => {
      const { manager } = app.get(DataSource);
      await expect(app.get(Outbox).add(manager, counted, ['x'], { value: 1 })).rejects.toMatchObject({
        code: 'OUTBOX_TRANSACTION_MISSING',
      });
      expect(await waiting(app)).toBe(0);
    });
  }, 60_000);
});
