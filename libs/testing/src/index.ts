export { freePort } from '@inquest/stack';
export { eventually, type EventuallyOptions } from './eventually';
export { startNats, type NatsFixture } from './nats-fixture';
export { createDatabase, startPostgres, type PostgresFixture } from './postgres-fixture';
export { tempDir, type TempDir } from './temp-dir';
