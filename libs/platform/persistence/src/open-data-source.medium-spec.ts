import { Logger } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, type DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CleanupStack } from '@inquest/kernel';
import { freePort, startPostgres, type PostgresFixture } from '@inquest/testing';
import { inTransaction } from './in-transaction';
import { openDataSource, type PersistenceOptions } from './open-data-source';
import { outboxMigration } from './outbox.migration';

@Entity()
class ThingEntity {
  @PrimaryColumn({ type: 'varchar', primaryKeyConstraintName: 'PK_thing' })
  id!: string;
  @Column({ type: 'int' })
  itemCount!: number;
}

class Thing1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Unqualified on purpose: the search path decides.
    await runner.query(
      'CREATE TABLE thing ("id" varchar CONSTRAINT "PK_thing" PRIMARY KEY, "item_count" int NOT NULL)',
    );
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE thing');
  }
}

class Broken1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half (id int)');
    await runner.query('CREATE TABLE nonsense (');
  }
  async down(): Promise<void> {}
}

describe('openDataSource on a real Postgres', () => {
  const cleanup = new CleanupStack();
  let postgres: PostgresFixture;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    postgres = await startPostgres();
    cleanup.defer('postgres', () => postgres.stop());
  }, 120_000);

  afterAll(() => cleanup.run(), 60_000);

  const options = (databaseUrl: string): PersistenceOptions => ({
    schema: 'probe',
    entities: [ThingEntity],
    migrations: [outboxMigration('probe'), Thing1700000000001],
    databaseUrl,
  });

  /** Runs `work` with a data source that is closed afterwards. */
  async function withDataSource<T>(
    settings: PersistenceOptions,
    work: (dataSource: DataSource) => Promise<T>,
  ): Promise<T> {
    const dataSource = await openDataSource(settings);
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  it('makes the schema, runs the migrations in it, and maps entities in snake case', async () => {
    await withDataSource(options(await postgres.createDatabase()), async (dataSource) => {
      await dataSource.getRepository(ThingEntity).insert({ id: 'a', itemCount: 3 });
      await expect(dataSource.query('SELECT "item_count" FROM "probe"."thing"')).resolves.toEqual([{ item_count: 3 }]);
      const drift = await dataSource.driver.createSchemaBuilder().log();
      expect(drift.upQueries.filter(({ query }) => !query.includes('outbox_event'))).toEqual([]);
    });
  }, 60_000);

  it('lets four processes start on a fresh database at once', async () => {
    const databaseUrl = await postgres.createDatabase();
    const opened = await Promise.all([1, 2, 3, 4].map(() => openDataSource(options(databaseUrl))));
    const [first] = opened;
    await expect(first?.query('SELECT count(*)::int AS "count" FROM "probe"."migration"')).resolves.toEqual([
      { count: 2 },
    ]);
    await Promise.all(opened.map((dataSource) => dataSource.destroy()));
  }, 60_000);

  it('leaves the schema as it was when a migration fails', async () => {
    const databaseUrl = await postgres.createDatabase();
    await withDataSource(options(databaseUrl), async () => undefined);
    const broken = { ...options(databaseUrl), migrations: [...options(databaseUrl).migrations, Broken1700000000002] };
    await expect(openDataSource(broken)).rejects.toMatchObject({ code: 'DATABASE_MIGRATION_FAILED', fault: 'infra' });
    await withDataSource(options(databaseUrl), async (dataSource) => {
      await expect(dataSource.query(`SELECT to_regclass('probe.half') AS "half"`)).resolves.toEqual([{ half: null }]);
    });
  }, 60_000);

  it('gives up at the deadline, without telling the password', async () => {
    const url = `postgres://inquest:hunter2@127.0.0.1:${await freePort()}/x`;
    const error: unknown = await openDataSource({ ...options(url), connectTimeoutMs: 300 }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'DATABASE_UNREACHABLE', status: 503 });
    expect((error as Error).message).not.toContain('hunter2');
  }, 60_000);

  it('does not give migration timeouts to the connections that services use', async () => {
    await withDataSource({ ...options(await postgres.createDatabase()), poolSize: 2 }, async (dataSource) => {
      const shown = await Promise.all(
        [1, 2].map(() => dataSource.query<{ lock_timeout: string }[]>('SHOW lock_timeout')),
      );
      expect(shown.flat()).toEqual([{ lock_timeout: '10s' }, { lock_timeout: '10s' }]);
    });
  }, 60_000);

  it('rolls back everything when the work of a transaction throws', async () => {
    await withDataSource(options(await postgres.createDatabase()), async (dataSource) => {
      const work = inTransaction(dataSource, async (manager) => {
        await manager.insert(ThingEntity, { id: 'lost', itemCount: 1 });
        throw new Error('on second thought');
      });
      await expect(work).rejects.toThrow('on second thought');
      await expect(dataSource.getRepository(ThingEntity).count()).resolves.toBe(0);
    });
  }, 60_000);

  it('runs the work again after a deadlock', async () => {
    await withDataSource(options(await postgres.createDatabase()), async (dataSource) => {
      await dataSource.getRepository(ThingEntity).insert([
        { id: 'a', itemCount: 0 },
        { id: 'b', itemCount: 0 },
      ]);
      // Both hold their first row before either asks for its second.
      let arrived = 0;
      let bothArrived: () => void = () => undefined;
      const meeting = new Promise<void>((resolve) => (bothArrived = resolve));
      const addTo = (first: string, second: string): Promise<void> =>
        inTransaction(dataSource, async (manager) => {
          await manager.increment(ThingEntity, { id: first }, 'itemCount', 1);
          if (++arrived === 2) bothArrived();
          await meeting;
          await manager.increment(ThingEntity, { id: second }, 'itemCount', 1);
        });
      await Promise.all([addTo('a', 'b'), addTo('b', 'a')]);
      expect(arrived).toBe(3);
      const counts = await dataSource.getRepository(ThingEntity).find({ order: { id: 'ASC' } });
      expect(counts.map(({ itemCount }) => itemCount)).toEqual([2, 2]);
    });
  }, 60_000);
});
