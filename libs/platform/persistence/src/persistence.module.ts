import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { openDataSource, type PersistenceOptions } from './open-data-source';
import { Outbox } from './outbox';
import { OutboxRelay } from './outbox-relay';
import { OUTBOX_SCHEMA, OutboxWaker } from './outbox-waker';

/**
 * The database of one service: a migrated `DataSource` (and, with `TypeOrmModule.forFeature`, repositories), the
 * `Outbox` and its relay. The schema's migrations must include `outboxMigration(schema)`; needs `MessagingModule`.
 */
@Module({})
export class PersistenceModule {
  static forRoot(options: PersistenceOptions): DynamicModule {
    const connection = TypeOrmModule.forRootAsync({
      useFactory: () => ({ type: 'postgres' as const, retryAttempts: 0 }),
      dataSourceFactory: () => openDataSource(options),
    });
    return {
      module: PersistenceModule,
      global: true,
      imports: [connection],
      providers: [
        { provide: OUTBOX_SCHEMA, useValue: options.schema },
        {
          provide: OutboxWaker,
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => {
            const waker = new OutboxWaker();
            dataSource.subscribers.push(waker);
            return waker;
          },
        },
        Outbox,
        OutboxRelay,
      ],
      exports: [Outbox, OutboxRelay],
    };
  }
}
