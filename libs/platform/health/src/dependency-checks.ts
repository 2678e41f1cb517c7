import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { NatsClient } from '@inquest/messaging';
import { healthError } from './errors';
import { Readiness } from './readiness';

const TIMEOUT_MS = 2_000;

/** Registers the checks of what the application uses: NATS, and Postgres where it has a data source. */
@Injectable()
export class DependencyChecks implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    @Optional() private readonly nats?: NatsClient,
    @Optional() private readonly dataSource?: DataSource,
  ) {}

  onModuleInit(): void {
    const { nats, dataSource } = this;
    if (nats !== undefined) {
      const check = async (): Promise<void> => void (await nats.roundTripMs(TIMEOUT_MS));
      this.readiness.register({ name: 'nats', timeoutMs: TIMEOUT_MS, check });
    }
    if (dataSource !== undefined) {
      const check = async (): Promise<void> => {
        await dataSource.query('SELECT 1').catch((e: unknown) => {
          throw healthError('DATABASE_NOT_ANSWERING', 'Postgres does not answer', {}, e);
        });
      };
      this.readiness.register({ name: 'postgres', timeoutMs: TIMEOUT_MS, check });
    }
  }
}
