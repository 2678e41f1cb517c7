import type { ServiceConfig } from '@inquest/config';
import { withDeadline } from '@inquest/kernel';
import { JsonLogger } from '@inquest/logging';
import type { ServiceDefinition } from './service-definition';
import { startService } from './start-service';

/** Below the 10 s after which a supervisor kills. */
const STOP_TIMEOUT_MS = 9_500;

/**
 * The main function of a service: runs it until SIGTERM or SIGINT, then exits with 0. Exits with 1 when it cannot
 * start, when it cannot stop in time, and after an unexpected failure outside of any request.
 */
export async function runService<Config extends ServiceConfig>(definition: ServiceDefinition<Config>): Promise<void> {
  const logger = new JsonLogger({ service: definition.name });
  const die = (what: string, error: unknown): never => {
    logger.fatal(what, error, runService.name);
    process.exit(1);
  };
  process.on('unhandledRejection', (reason) => die('a failure that nobody handled', reason));
  process.on('uncaughtException', (error) => die('a failure that nobody handled', error));
  // The reader of the log may go first; that is no reason to fail.
  process.stdout.on('error', () => undefined);

  const signal = firstSignal();
  const starting = startService(definition).catch((e: unknown) => die('the service cannot start', e));
  const first = await Promise.race([starting, signal]);
  if (typeof first === 'string') {
    // It has accepted nothing yet, and may be waiting for a database that never comes.
    logger.log(`ended by ${first} while starting`, runService.name);
    process.exit(0);
  }
  logger.log(`listening at ${first.url}`, runService.name);
  logger.log(`stopping after ${await signal}`, runService.name);
  await withDeadline(first.stop(), STOP_TIMEOUT_MS, 'stopping').catch((e: unknown) =>
    die('the service could not stop cleanly', e),
  );
  process.exit(0);
}

/** A second one ends the process at once, as without a handler. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
}
