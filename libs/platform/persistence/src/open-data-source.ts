import { Logger } from '@nestjs/common';
import { DataSource, type EntitySchema, type MigrationInterface, type MixedList, type QueryRunner } from 'typeorm';
import { deadlineSignal, delay } from '@inquest/kernel';
import { persistenceError } from './errors';
import { SnakeNamingStrategy } from './snake-naming.strategy';
import { TypeOrmLogger } from './typeorm-logger';

type Constructor<T = object> = abstract new (...args: never[]) => T;

/** One service's part of the database. */
export interface PersistenceOptions {
  /** The service's own schema; made when it is missing. A plain lower-case identifier. */
  readonly schema: string;
  readonly entities: readonly (Constructor | EntitySchema)[];
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** With credentials: `postgres://user:password@host:5432/database`. */
  readonly databaseUrl: string;
  /** Connections at most; 10 when left out. */
  readonly poolSize?: number;
  /** How long the start waits for Postgres; 60 s when left out. */
  readonly connectTimeoutMs?: number;
}

const SCHEMA_PATTERN = /^[a-z][a-z_]{0,30}$/;
const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 60_000;
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2_000;
/** One attempt, and one wait for a free connection. */
const ACQUIRE_TIMEOUT_MS = 5_000;
/** A statement of a service is short; a longer one is stuck behind a lock or a mistake. */
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
/** A service that stops inside a transaction must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** Migrations may rewrite tables, and several processes wait for one another. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;
/** First key of the advisory locks of migrations: the letters "inqu". The second is the schema. */
const MIGRATION_LOCK = 0x696e7175;

/**
 * A connected data source whose schema exists and is up to date. Several processes may open the same schema at once:
 * one migrates, the others wait. Throws `DATABASE_UNREACHABLE` after `connectTimeoutMs` and `DATABASE_MIGRATION_FAILED`;
 * no connection is left open then.
 */
export async function openDataSource(options: PersistenceOptions): Promise<DataSource> {
  const dataSource = await connect(options);
  try {
    await migrate(dataSource, options.schema);
    return dataSource;
  } catch (e) {
    await dataSource.destroy();
    throw persistenceError(
      'DATABASE_MIGRATION_FAILED',
      `schema "${options.schema}" could not be brought up to date`,
      { schema: options.schema },
      e,
    );
  }
}

async function connect(options: PersistenceOptions): Promise<DataSource> {
  const logger = new Logger('Persistence');
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const deadline = deadlineSignal(timeoutMs);
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    const dataSource = describeDataSource(options);
    try {
      return await dataSource.initialize();
    } catch (e) {
      if (deadline.aborted) throw unreachable(options, timeoutMs, e);
      logger.warn(`Postgres does not accept connections yet: ${(e as Error).message}`);
      await delay(retryMs, deadline).catch(() => {
        throw unreachable(options, timeoutMs, e);
      });
    }
  }
}

const unreachable = ({ databaseUrl, schema }: PersistenceOptions, timeoutMs: number, cause: unknown): Error =>
  persistenceError(
    'DATABASE_UNREACHABLE',
    `no connection to ${serverOf(databaseUrl)} within ${timeoutMs} ms`,
    { schema, timeoutMs },
    cause,
  );

/** Host, port and database, never the credentials. */
function serverOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

function describeDataSource(options: PersistenceOptions): DataSource {
  const { schema } = options;
  if (!SCHEMA_PATTERN.test(schema)) throw new TypeError(`"${schema}" cannot be a schema name`);
  return new DataSource({
    type: 'postgres',
    url: options.databaseUrl,
    schema,
    entities: [...options.entities] as MixedList<string | EntitySchema>,
    migrations: [...options.migrations],
    migrationsTableName: 'migration',
    namingStrategy: new SnakeNamingStrategy(),
    synchronize: false,
    logging: ['migration', 'warn'],
    logger: new TypeOrmLogger(),
    // Entities that want uuid make it themselves; making an extension needs a superuser.
    installExtensions: false,
    applicationName: `inquest-${schema}`,
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    connectTimeoutMS: ACQUIRE_TIMEOUT_MS,
    poolErrorHandler: (e: Error) => new Logger('Persistence').warn(`an idle connection broke: ${e.message}`),
    extra: {
      keepAlive: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      // Unqualified names, in migrations too, mean the service's own schema.
      options: `-c search_path=${schema},public`,
    },
  });
}

async function migrate(dataSource: DataSource, schema: string): Promise<void> {
  const lock = dataSource.createQueryRunner();
  try {
    await setTimeouts(lock, MIGRATION_TIMEOUT_MS, MIGRATION_TIMEOUT_MS);
    // TypeORM's own migration table is made without a lock: of two processes on a fresh database one would fail.
    await lock.query('SELECT pg_advisory_lock($1, hashtext($2))', [MIGRATION_LOCK, schema]);
    try {
      await lock.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1, hashtext($2))', [MIGRATION_LOCK, schema]);
      await setTimeouts(lock, STATEMENT_TIMEOUT_MS, LOCK_TIMEOUT_MS);
    }
  } finally {
    await lock.release();
  }
}

/** For the session of one connection, which goes back to the pool. */
async function setTimeouts(runner: QueryRunner, statementMs: number, lockMs: number): Promise<void> {
  await runner.query(`SET statement_timeout = ${statementMs}`);
  await runner.query(`SET lock_timeout = ${lockMs}`);
}
