import { Logger as NestLogger } from '@nestjs/common';
import type { Logger } from 'typeorm';

/** What TypeORM has to say, in the service's own log. Statements are left out: their parameters are people's data. */
export class TypeOrmLogger implements Logger {
  private readonly logger = new NestLogger('TypeORM');

  logQuery(): void {}

  /** The error reaches the caller, who decides what it is worth. */
  logQueryError(): void {}

  logQuerySlow(timeMs: number, query: string): void {
    this.logger.warn(`a statement took ${timeMs} ms: ${query}`);
  }

  logSchemaBuild(message: string): void {
    this.logger.debug(message);
  }

  logMigration(message: string): void {
    this.logger.log(message);
  }

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.logger.warn(message);
    else this.logger.debug(message);
  }
}
