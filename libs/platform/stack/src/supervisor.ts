import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { delay, isDomainError, withDeadline } from '@inquest/kernel';
import { boundLog, type Environment, type ProcessIdentity } from '@inquest/process';
import { readTail } from './durable-file';
import { natsUsers } from './nats-users';
import { startNatsServer } from './nats-server';
import { launchNodeService } from './node-service';
import { startPostgres } from './postgres';
import {
  dependenciesOf,
  GATEWAY_NAME,
  NATS_NAME,
  POSTGRES_NAME,
  startLevels,
  type ServiceDeclaration,
  type StackDeclaration,
} from './service-declaration';
import { logFilePath, readyFilePath, type StackLayout } from './stack-layout';
import { ensureSecrets, tokenDigest, type StackSecrets } from './stack-secrets';
import { writeStackState, type StackState, type StackStateName } from './stack-state';
import { RESTART_POLICY, SupervisedService, type Launch, type RestartPolicy } from './supervised-service';

export interface SupervisorOptions {
  readonly layout: StackLayout;
  readonly declaration: StackDeclaration;
  readonly identity: ProcessIdentity;
  readonly startedAtMs: number;
  readonly log: (level: 'info' | 'error', message: string) => void;
  readonly policy?: RestartPolicy;
}

const STOP_GRACE_MS = 15_000;
const LOG_TAIL_BYTES = 1_500;
const STATE_WRITE_TIMEOUT_MS = 30_000;
/** Between two looks at how large the logs are. */
const LOG_LOOK_MS = 30_000;

/** Owns every process of one stack: starts them in order, keeps them running, stops them in reverse. */
export class Supervisor {
  private readonly services = new Map<string, SupervisedService>();
  private readonly levels: ReadonlyMap<string, number>;
  private state: StackStateName = 'starting';
  private failure: string | null = null;
  private natsUrl: string | null = null;
  private databaseUrl: string | null = null;
  private writing: Promise<void> = Promise.resolve();
  private isWriteQueued = false;
  private readonly stopping = new AbortController();

  /** Throws `INPUT_INVALID` when the declaration is not in starting order. */
  constructor(private readonly options: SupervisorOptions) {
    this.levels = startLevels(options.declaration.services);
  }

  /**
   * Runs the stack until `signal` aborts, then stops everything. Resolves to true when it was up, to false when it could
   * not be started; the state file then says why. In both cases no process is left.
   */
  async run(signal: AbortSignal): Promise<boolean> {
    const stopRequested = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.save();
    const boundingLogs = this.boundLogs(signal);
    const starting = this.startAll();
    const failure = await Promise.race([starting.then(() => null, describeFailure), stopRequested.then(() => null)]);
    if (failure === null && !signal.aborted) {
      this.enter('running');
      await stopRequested;
    }
    this.enter('stopping');
    this.stopping.abort();
    await this.stopAll();
    await starting.catch(() => undefined);
    await boundingLogs;
    if (failure !== null) {
      this.failure = failure;
      this.enter('failed');
    }
    await withDeadline(this.writing, STATE_WRITE_TIMEOUT_MS, `writing ${this.options.layout.state}`);
    return failure === null;
  }

  /** Services may run for months. Never rejects. */
  private async boundLogs(stopped: AbortSignal): Promise<void> {
    const looking = AbortSignal.any([stopped, this.stopping.signal]);
    while (!looking.aborted) {
      for (const { status } of this.services.values()) {
        await boundLog(status.logFile).catch((e: unknown) => this.options.log('error', describe(e)));
      }
      await delay(LOG_LOOK_MS, looking).catch(() => undefined);
    }
  }

  private async startAll(): Promise<void> {
    const { layout, declaration } = this.options;
    const withLogin = declaration.services.filter(({ platform }) => platform !== null);
    const secrets = await ensureSecrets(
      layout,
      withLogin.map(({ name }) => name),
    );
    const ready = new Map<string, Promise<void>>();
    ready.set(NATS_NAME, this.add(NATS_NAME, this.natsLaunch(secrets)).start());
    ready.set(POSTGRES_NAME, this.add(POSTGRES_NAME, this.postgresLaunch(secrets)).start());
    for (const service of declaration.services) {
      const supervised = this.add(service.name, this.serviceLaunch(service, secrets));
      const dependencies = dependenciesOf(service).map((name) => ready.get(name) ?? Promise.resolve());
      ready.set(
        service.name,
        Promise.all(dependencies).then(() => supervised.start()),
      );
    }
    const starts = [...ready.values()];
    // One failure is reported; the others that follow from it are not.
    for (const start of starts) start.catch(() => undefined);
    await Promise.all(starts);
  }

  /** Deepest dependants first; the services of one level at the same time. */
  private async stopAll(): Promise<void> {
    const deepest = Math.max(...this.levels.values());
    for (let level = deepest; level >= 0; level--) {
      const onLevel = [...this.services.values()].filter(({ status }) => this.levels.get(status.name) === level);
      const results = await Promise.allSettled(onLevel.map((service) => service.stop(STOP_GRACE_MS)));
      for (const result of results) {
        if (result.status === 'rejected') this.options.log('error', describe(result.reason));
      }
    }
  }

  private add(name: string, launch: Launch): SupervisedService {
    const service = new SupervisedService({
      name,
      logFile: logFilePath(this.options.layout, name),
      launch,
      policy: this.options.policy ?? RESTART_POLICY,
      onChange: (status) => {
        const failure = status.lastFailure === null ? '' : ` (last failure: ${status.lastFailure})`;
        this.options.log('info', `${name} is ${status.state}${failure}`);
        this.save();
      },
    });
    this.services.set(name, service);
    return service;
  }

  /** Services hold its URL, so a later life must listen where the first did. */
  private natsLaunch(secrets: StackSecrets): Launch {
    const { layout, declaration } = this.options;
    let port = 0;
    return async ({ signal, onSpawn }) => {
      const server = await startNatsServer({
        directory: layout.nats,
        logFile: logFilePath(layout, NATS_NAME),
        users: natsUsers(declaration.services, secrets.natsPasswords),
        port,
        signal,
        onSpawn,
      });
      port = server.port;
      this.natsUrl = server.url;
      return { process: server.process, url: server.url };
    };
  }

  private postgresLaunch(secrets: StackSecrets): Launch {
    const { layout, declaration } = this.options;
    let port = 0;
    return async ({ signal, onSpawn }) => {
      const server = await startPostgres({
        directory: layout.postgres,
        binariesCopyDirectory: layout.postgresBinaries,
        logFile: logFilePath(layout, POSTGRES_NAME),
        password: secrets.postgresPassword,
        isDurable: true,
        pgBin: declaration.pgBin ?? undefined,
        port,
        signal,
        onSpawn,
      });
      port = server.port;
      this.databaseUrl = server.url;
      return { process: server.process, url: `postgres://127.0.0.1:${server.port}` };
    };
  }

  private serviceLaunch(service: ServiceDeclaration, secrets: StackSecrets): Launch {
    const { layout } = this.options;
    return (context) =>
      launchNodeService(
        {
          service,
          env: { ...this.platformEnv(service, secrets), ...this.urlEnv(service), ...service.env },
          logFile: logFilePath(layout, service.name),
          readyFile: readyFilePath(layout, service.name),
        },
        context,
      );
  }

  private platformEnv(service: ServiceDeclaration, secrets: StackSecrets): Environment {
    const common = { INQUEST_HOME: this.options.layout.home, INQUEST_HTTP_HOST: '127.0.0.1' };
    if (service.platform === null) return common;
    return {
      ...common,
      INQUEST_NODE_ID: this.options.declaration.nodeId,
      INQUEST_NATS_URL: this.natsUrl ?? '',
      INQUEST_NATS_USER: service.name,
      INQUEST_NATS_PASSWORD: secrets.natsPasswords[service.name] ?? '',
      INQUEST_DATABASE_URL: this.databaseUrl ?? '',
      INQUEST_TOKEN_SHA256: tokenDigest(secrets.token),
      INQUEST_URL_SIGNING_KEY: secrets.urlSigningKey,
    };
  }

  private urlEnv(service: ServiceDeclaration): Environment {
    const entries = Object.entries(service.urlEnv).map(([key, { of, path }]) => {
      const url = this.services.get(of)?.status.url ?? '';
      return [key, `${url}${path}`] as const;
    });
    return Object.fromEntries(entries);
  }

  private enter(state: StackStateName): void {
    this.state = state;
    this.options.log(
      state === 'failed' ? 'error' : 'info',
      `the stack is ${state}${this.failure ? `: ${this.failure}` : ''}`,
    );
    this.save();
  }

  /** Many changes while one write is under way become one further write. */
  private save(): void {
    if (this.isWriteQueued) return;
    this.isWriteQueued = true;
    this.writing = this.writing.then(async () => {
      this.isWriteQueued = false;
      await writeStackState(this.options.layout, this.snapshot()).catch((e: unknown) =>
        this.options.log('error', `cannot record the state of the stack: ${describe(e)}`),
      );
    });
  }

  private snapshot(): StackState {
    const { identity, startedAtMs } = this.options;
    return {
      formatVersion: 1,
      state: this.state,
      failure: this.failure,
      startedAtMs,
      supervisor: identity,
      services: [...this.services.values()].map(({ status }) => status),
      gatewayUrl: this.services.get(GATEWAY_NAME)?.status.url ?? null,
      natsUrl: this.natsUrl,
      databaseUrl: this.databaseUrl,
    };
  }
}

/**
 * Removes what only makes sense while the stack runs: its state, and the disks and sockets of machines that are gone.
 * Files beside the instance directories, such as what was learnt about this host, stay.
 */
export async function removeRunFiles(layout: StackLayout): Promise<void> {
  await rm(layout.run, { recursive: true, force: true });
  const entries = await readdir(layout.machines, { withFileTypes: true }).catch(() => []);
  const instances = entries.filter((entry) => entry.isDirectory());
  await Promise.all(
    instances.map(({ name }) => rm(path.join(layout.machines, name), { recursive: true, force: true })),
  );
}

/** The message, and what the failed part itself wrote last. */
async function describeFailure(e: unknown): Promise<string> {
  const logFile = isDomainError(e) ? e.details['logFile'] : undefined;
  if (typeof logFile !== 'string') return describe(e);
  const tail = (await readTail(logFile, LOG_TAIL_BYTES)).trim();
  return tail === '' ? describe(e) : `${describe(e)}\n${tail}`;
}

const describe = (e: unknown): string => (e instanceof Error ? e.message : String(e));
