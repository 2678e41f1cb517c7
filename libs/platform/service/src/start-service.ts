import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { loadConfig, secretsOf, type Environment, type ServiceConfig } from '@inquest/config';
import { configureHttp, setupOpenApi } from '@inquest/http';
import { CleanupStack } from '@inquest/kernel';
import { JsonLogger, redactor } from '@inquest/logging';
import { natsMicroserviceOptions } from '@inquest/messaging';
import { HttpDrain } from './http-drain';
import { removeReadyFile, writeReadyFile } from './ready-file';
import type { ServiceDefinition } from './service-definition';
import { ServiceModule } from './service.module';

/** A service that answers. */
export interface RunningService {
  readonly app: NestExpressApplication;
  /** Of its REST API. */
  readonly url: string;
  /** Takes no new work, finishes what is at work within bounds, and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a service in this process and resolves when it listens and, where one is configured, its ready file is
 * written. Throws `CONFIG_INVALID` and what its modules throw while they start; nothing is left open then.
 */
export async function startService<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
  env?: Environment,
): Promise<RunningService> {
  const config = loadConfig(definition.Config, env, { serviceName: definition.name } as Partial<Config>);
  hideSecrets(config);
  const cleanup = new CleanupStack();
  try {
    const app = await NestFactory.create<NestExpressApplication>(ServiceModule.of(definition, config), {
      logger: new JsonLogger({ service: definition.name, level: config.logLevel }),
      bodyParser: false,
      abortOnError: false,
    });
    const drain = new HttpDrain(app.getHttpServer());
    cleanup.defer(definition.name, () => close(app, drain));
    configureHttp(app);
    app.connectMicroservice(natsMicroserviceOptions(app));
    setupOpenApi(app, definition);
    // Requests on NATS must not reach modules that are not initialised yet.
    await app.init();
    await app.startAllMicroservices();
    const url = await listen(app, config);
    await announce(config, url, cleanup);
    return { app, url, stop: () => cleanup.run() };
  } catch (e) {
    await cleanup.run();
    throw e;
  }
}

function hideSecrets(config: ServiceConfig): void {
  for (const secret of secretsOf(config)) redactor.register(secret);
  redactor.register(decodeURIComponent(new URL(config.databaseUrl).password));
}

async function listen(app: NestExpressApplication, { httpHost, httpPort }: ServiceConfig): Promise<string> {
  // An upload, or the input of a command, takes as long as it takes; headers keep Node's own deadline.
  app.getHttpServer().requestTimeout = 0;
  await app.listen(httpPort, httpHost);
  const { port } = app.getHttpServer().address() as AddressInfo;
  return `http://${httpHost.includes(':') ? `[${httpHost}]` : httpHost}:${port}`;
}

async function announce({ readyFile }: ServiceConfig, url: string, cleanup: CleanupStack): Promise<void> {
  if (readyFile === undefined) return;
  await writeReadyFile(readyFile, { pid: process.pid, port: Number(new URL(url).port), url });
  cleanup.defer('the ready file', () => removeReadyFile(readyFile, process.pid));
}

async function close(app: NestExpressApplication, drain: HttpDrain): Promise<void> {
  drain.begin();
  try {
    await app.close();
  } finally {
    drain.end();
  }
}
