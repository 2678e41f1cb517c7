export { decodeCursor, encodeCursor, type Cursor, type Page } from './cursor';
export { persistenceError } from './errors';
export { inTransaction } from './in-transaction';
export { openDataSource, type PersistenceOptions } from './open-data-source';
export { Outbox } from './outbox';
export { outboxMigration } from './outbox.migration';
export { OutboxRelay } from './outbox-relay';
export { PersistenceModule } from './persistence.module';
export { SnakeNamingStrategy } from './snake-naming.strategy';
