import { Logger } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, type DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { startPostgres, type PostgresFixture } from '@inquest/testing';
import { EntityStatements } from './entity-statements';
import { openDataSource } from './open-data-source';

@Entity({ name: 'parcel' })
class Parcel {
  @PrimaryColumn({ name: 'parcel_id', type: 'varchar' }) parcelId!: string;
  @Column({ type: 'int' }) weight!: number;
  @Column({ type: 'varchar' }) state!: string;
  @Column({ name: 'is_open', type: 'boolean' }) isOpen!: boolean;
  @Column({ type: 'bigint', nullable: true }) price!: string | null;
  @Column({ type: 'jsonb' }) labels!: string[];
  @Column({ type: 'jsonb', nullable: true }) sender!: { readonly name: string } | null;
  @Column({ name: 'sent_at', type: 'timestamptz', precision: 3, nullable: true }) sentAt!: Date | null;
}

class Parcels1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE "probe"."parcel" ("parcel_id" varchar PRIMARY KEY, "weight" int NOT NULL,
      "state" varchar NOT NULL, "is_open" boolean NOT NULL, "price" bigint, "labels" jsonb NOT NULL, "sender" jsonb,
      "sent_at" timestamptz(3))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "probe"."parcel"');
  }
}

const parcel = (parcelId: string, fields: Partial<Parcel> = {}): Parcel =>
  Object.assign(new Parcel(), {
    parcelId,
    weight: 3,
    state: 'packed',
    isOpen: false,
    price: '9007199254740993',
    labels: ['a', `it's "quoted"`],
    sender: { name: 'ü' },
    sentAt: new Date(1_700_000_000_123),
    ...fields,
  });
const bare = { isOpen: true, price: null, labels: [], sender: null, sentAt: null };

describe('EntityStatements on a real Postgres', () => {
  let postgres: PostgresFixture;
  let dataSource: DataSource;
  let statements: EntityStatements<Parcel>;
  beforeAll(async () => {
    Logger.overrideLogger(false);
    postgres = await startPostgres();
    const databaseUrl = await postgres.createDatabase();
    const migrations = [Parcels1700000000001];
    dataSource = await openDataSource({ schema: 'probe', entities: [Parcel], migrations, databaseUrl });
    statements = new EntityStatements(dataSource, Parcel);
  }, 120_000);
  afterAll(async () => {
    await dataSource.destroy();
    await postgres.stop();
  }, 60_000);
  beforeEach(async () => {
    await dataSource.query('DELETE FROM "probe"."parcel"');
    for (const row of [parcel('a'), parcel('b', { ...bare, state: 'sent' }), parcel('c', { weight: 7 })]) {
      const { sql, values } = statements.insertion(row);
      await dataSource.query(sql, [...values]);
    }
  });

  it('stores and gives rows as the repository does', async () => {
    const found = await statements.find({ state: ['packed', 'sent'] }, 'ORDER BY "parcel_id"');
    expect(found).toStrictEqual(await dataSource.getRepository(Parcel).find({ order: { parcelId: 'ASC' } }));
    expect(found.map(({ parcelId }) => parcelId)).toEqual(['a', 'b', 'c']);
    expect(found[1]).toMatchObject(bare);
  });

  it('finds rows that meet all conditions, and none for an empty list', async () => {
    expect((await statements.find({ state: 'packed', weight: [7, 8] })).map(({ parcelId }) => parcelId)).toEqual(['c']);
    expect(await statements.find({ state: [] })).toEqual([]);
  });

  it('changes what meets the condition and nothing else, and gives it as it is then', async () => {
    const change = { state: 'sent', labels: ['new'], sender: null, sentAt: new Date(1) };
    const changed = await dataSource.transaction((manager) =>
      statements.update(manager, { parcelId: 'a', state: ['packed'] }, change),
    );
    expect(changed).toStrictEqual([parcel('a', change)]);
    expect(await statements.find({ parcelId: ['a', 'c'] }, 'ORDER BY "parcel_id"')).toStrictEqual([
      parcel('a', change),
      parcel('c', { weight: 7 }),
    ]);
    const refused = statements.update(dataSource.manager, { parcelId: 'b', state: 'packed' }, change);
    expect(await refused).toEqual([]);
  });

  it('takes values for values, whatever is in them', async () => {
    const hostile = `'; DROP TABLE "probe"."parcel"; --`;
    await statements.update(dataSource.manager, { parcelId: 'a' }, { state: hostile });
    expect(await statements.find({ state: hostile })).toHaveLength(1);
  });
});
