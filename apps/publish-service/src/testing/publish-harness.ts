import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  CommitRequest,
  publishEvents,
  publishOps,
  PublishRequest,
  type CommitView,
  type PublicationView,
} from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { StartMachineRequest } from '@inquest/contracts-vm';
import { CleanupStack, newId, type Operation } from '@inquest/kernel';
import { EventBus, MessagingModule, RpcClient } from '@inquest/messaging';
import { startService, type RunningService } from '@inquest/service';
import { startNats, startPostgres, tempDir } from '@inquest/testing';
import { FakeVmService, type FakeMachine } from '@inquest/vm-client/testing';
import { publishService } from '../publish-service.definition';
import { PublishProcess } from './publish-process';

const PROJECT_PATH = '/mnt/project';
const ANA = { name: 'Ana', email: 'ana@example.org' };

/** One session's guest, with the project's files in it. */
export interface StagedGuest {
  readonly project: string;
  readonly sessionId: string;
  readonly machine: FakeMachine;
}

/** A real publish-service with real repositories and a bare forge, on a real NATS and Postgres, and fake guests. */
export class PublishHarness {
  vm!: FakeVmService;
  private readonly cleanup = new CleanupStack();
  private client!: INestApplicationContext;
  private rpc!: RpcClient;
  private home!: string;
  private natsUrl!: string;
  private databaseUrl!: string;
  private running: RunningService | null = null;

  /** With `isProcess`, no service is started yet: `spawn` does that. */
  static async start({ isProcess = false } = {}): Promise<PublishHarness> {
    const harness = new PublishHarness();
    await harness.startAll(isProcess).catch(async (e: unknown) => {
      await harness.stop();
      throw e;
    });
    return harness;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  get url(): string {
    return this.service.url;
  }

  get database(): DataSource {
    return this.service.app.get(DataSource, { strict: false });
  }

  /** Starts publish-service; `env` on top of what it always gets. */
  async startPublish(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.running = await startService(publishService, this.environment(env));
  }

  /** Starts publish-service as a process of its own, which ends with this harness at the latest. */
  async spawn(env: Readonly<Record<string, string>> = {}): Promise<PublishProcess> {
    const child = await PublishProcess.start(this.home, this.environment(env));
    this.cleanup.defer('the process of publish-service', () => child.kill());
    return child;
  }

  /** What the processes that `spawn` started have logged. */
  log(): Promise<string> {
    return readFile(path.join(this.home, 'publish-service.log'), 'utf8');
  }

  /** Every row of every table of the service, as text. */
  async rows(): Promise<string> {
    const database = await new DataSource({ type: 'postgres', url: this.databaseUrl }).initialize();
    try {
      const tables = await database.query<{ name: string }[]>(
        `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
      );
      const texts = await Promise.all(
        tables.map(({ name }) => database.query<{ text: string }[]>(`SELECT t::text AS text FROM ${name} t`)),
      );
      return texts.flatMap((rows) => rows.map(({ text }) => text)).join('\n');
    } finally {
      await database.destroy();
    }
  }

  async stopPublish(): Promise<void> {
    const { running } = this;
    this.running = null;
    await running?.stop();
  }

  async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stopPublish();
    await this.startPublish(env);
  }

  call<Req extends object, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    signal?: AbortSignal,
  ): Promise<Res> {
    return this.rpc.call(op, request, signal === undefined ? {} : { signal });
  }

  /** A session whose guest has the files of the project; of a new project when none is named. */
  async stage(project = newId<string>('prj')): Promise<StagedGuest> {
    await this.call(publishOps.ensureProject, { project });
    const sessionId = newId<string>('ses');
    const machine = this.vm.begin(dto(StartMachineRequest, { image: 'tiny', owner: sessionId }));
    this.vm.becomeReady(machine);
    await this.call(publishOps.stageProject, { project, sessionId, machineId: machine.view.machineId });
    return { project, sessionId, machine };
  }

  /** A session that changed nothing but these files. */
  async stageWith(files: Readonly<Record<string, string>>, project?: string): Promise<StagedGuest> {
    const guest = await this.stage(project);
    this.write(guest, files);
    return guest;
  }

  write({ machine }: StagedGuest, files: Readonly<Record<string, string | Buffer>>): void {
    for (const [name, content] of Object.entries(files)) machine.files.write(`${PROJECT_PATH}/${name}`, content);
  }

  remove({ machine }: StagedGuest, name: string): void {
    machine.files.remove(`${PROJECT_PATH}/${name}`);
  }

  /** Names of the project's files in a guest. */
  filesOf({ machine }: StagedGuest): string[] {
    return machine.files.under(PROJECT_PATH).map((file) => file.slice(PROJECT_PATH.length + 1));
  }

  commit({ project, sessionId, machine }: StagedGuest, more: Partial<CommitRequest> = {}): Promise<CommitView> {
    const { machineId } = machine.view;
    const request = { project, sessionId, machineId, requestId: newId<string>('call'), message: 'work', author: ANA };
    return this.call(publishOps.commit, dto(CommitRequest, { ...request, ...more }));
  }

  publish(
    { project, sessionId }: StagedGuest,
    more: Partial<PublishRequest> = {},
    signal?: AbortSignal,
  ): Promise<PublicationView> {
    const request = dto(PublishRequest, { project, sessionId, title: 'test', ...more });
    return this.call(publishOps.publish, request, signal);
  }

  /** The project's repository on this host. */
  repositoryPath(project: string): string {
    return path.join(this.home, 'projects', `${project}.git`);
  }

  /** Plain git on the project's repository, as a person would look at it. */
  git(project: string, ...args: string[]): string {
    return runGit(this.repositoryPath(project), args);
  }

  /** Plain git on what the forge has of the project. */
  forgeGit(project: string, ...args: string[]): string {
    return runGit(path.join(this.home, 'forge', `${project}.git`), args);
  }

  /** Every path of the project's last commit. */
  paths(project: string): string[] {
    return this.git(project, 'ls-tree', '-r', '--name-only', '-z', 'HEAD').split('\0').filter(Boolean);
  }

  commitCount(project: string): number {
    return Number(this.git(project, 'rev-list', '--count', '--all'));
  }

  /** What lies in the directory for temporary files. */
  leftovers(): Promise<string[]> {
    return readdir(this.temporary);
  }

  /** States that were told of a publication, oldest first, up to and including `last`. */
  async told(publicationId: string, last: string): Promise<string[]> {
    const states: string[] = [];
    const options = { ids: [publicationId], signal: AbortSignal.timeout(30_000) };
    for await (const { body } of this.client.get(EventBus).subscribe(publishEvents.publicationChanged, options)) {
      states.push(body.publication.state);
      if (body.publication.state === last) break;
    }
    return states;
  }

  private environment(env: Readonly<Record<string, string>>): Record<string, string> {
    return {
      INQUEST_HOME: this.home,
      INQUEST_NATS_URL: this.natsUrl,
      INQUEST_DATABASE_URL: this.databaseUrl,
      INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
      INQUEST_MAX_FILE_BYTES: '200000',
      INQUEST_LOG_LEVEL: 'fatal',
      ...env,
    };
  }

  private get temporary(): string {
    return path.join(this.home, 'tmp');
  }

  private get service(): RunningService {
    if (this.running === null) throw new Error('publish-service does not run');
    return this.running;
  }

  private async startAll(isProcess: boolean): Promise<void> {
    const directory = await tempDir('publish');
    this.cleanup.defer('the home directory', () => directory.remove());
    this.home = directory.path;
    const nats = await startNats();
    this.cleanup.defer('nats', () => nats.stop());
    this.natsUrl = nats.url;
    const postgres = await startPostgres();
    this.cleanup.defer('postgres', () => postgres.stop());
    this.databaseUrl = await postgres.createDatabase();
    await this.useOwnTemporaryDirectory();
    this.vm = await FakeVmService.start({ natsUrl: nats.url });
    this.cleanup.defer('vm-service', () => this.vm.stop());
    await this.connect();
    this.cleanup.defer('publish-service', () => this.stopPublish());
    if (!isProcess) await this.startPublish();
  }

  private async useOwnTemporaryDirectory(): Promise<void> {
    await mkdir(this.temporary);
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = this.temporary;
    this.cleanup.defer('TMPDIR', () => {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    });
  }

  private async connect(): Promise<void> {
    @Module({ imports: [MessagingModule.forRoot({ serviceName: 'test', natsUrl: this.natsUrl, nodeId: 'test' })] })
    class ClientModule {}
    this.client = await NestFactory.createApplicationContext(ClientModule, { logger: false, abortOnError: false });
    this.cleanup.defer('the client', () => this.client.close());
    this.rpc = this.client.get(RpcClient);
  }
}

const runGit = (gitDirectory: string, args: readonly string[]): string =>
  execFileSync('git', [`--git-dir=${gitDirectory}`, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
