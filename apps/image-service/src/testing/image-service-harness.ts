import { createHash } from 'node:crypto';
import path from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  imageOps,
  ImageVersionRequest,
  ResolveImageRequest,
  type ImageVersionView,
  type ResolvedImage,
} from '@inquest/contracts-image';
import { dto, OperationRequest, type OperationView } from '@inquest/contracts-base';
import { CleanupStack, type Operation } from '@inquest/kernel';
import { EventBus, MessagingModule, RpcClient } from '@inquest/messaging';
import { startService, type RunningService } from '@inquest/service';
import { startNats, startPostgres, tempDir } from '@inquest/testing';
import { FakeVmService } from '@inquest/vm-client/testing';
import { imageService } from '../image-service.definition';
import { ImageServiceProcess } from './image-service-process';
import { ToolsDirectory } from './tools-directory';

export const TOKEN = 'operator-token';
/** Of a long poll in tests. */
const WAIT_MS = 50_000;

/** What a test wants other than usual. */
export interface HarnessOptions {
  /** Runs the built image-service as a process, which can be killed; the database is then out of reach. Default false. */
  readonly isProcess?: boolean;
  /** Gives that process an empty file system in memory of this size as its home. Default: a directory of the host. */
  readonly homeBytes?: number;
  /** Whether a vm-service answers from the start. Default true. */
  readonly hasVmService?: boolean;
}

/** A real image-service on a real NATS and Postgres, with scripts for tools and a fake vm-service. */
export class ImageServiceHarness {
  tools!: ToolsDirectory;
  home!: string;
  rpc!: RpcClient;
  bus!: EventBus;
  private readonly cleanup = new CleanupStack();
  private vmService: FakeVmService | null = null;
  private env!: Readonly<Record<string, string>>;
  private directory!: string;
  private natsUrl!: string;
  private running: RunningService | ImageServiceProcess | null = null;

  private constructor(private readonly options: HarnessOptions) {}

  static async start(
    env: Readonly<Record<string, string>> = {},
    options: HarnessOptions = {},
  ): Promise<ImageServiceHarness> {
    const harness = new ImageServiceHarness(options);
    await harness.startAll(env).catch(async (e: unknown) => {
      await harness.stop();
      throw e;
    });
    return harness;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  get vm(): FakeVmService {
    if (this.vmService === null) throw new Error('no vm-service was started');
    return this.vmService;
  }

  get url(): string {
    return this.service.url;
  }

  get database(): DataSource {
    if (this.service instanceof ImageServiceProcess) throw new Error('the database belongs to another process');
    return this.service.app.get(DataSource, { strict: false });
  }

  /** `more` on top of what it always gets; not for a process. */
  async startImageService(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { isProcess = false, homeBytes = null } = this.options;
    const { env, directory } = this;
    this.running = isProcess
      ? await ImageServiceProcess.start({ env, directory, homeBytes })
      : await startService(imageService, { ...env, ...more });
  }

  async stopImageService(): Promise<void> {
    const { running } = this;
    this.running = null;
    await running?.stop();
  }

  /** kill -9. */
  async killImageService(): Promise<void> {
    const { service } = this;
    if (!(service instanceof ImageServiceProcess)) throw new Error('image-service runs in this process');
    this.running = null;
    await service.kill();
  }

  async startVmService(): Promise<void> {
    this.vmService = await FakeVmService.start({ natsUrl: this.natsUrl });
  }

  /** Another node; gone when the harness is stopped. */
  async startNode(nodeId: string): Promise<FakeVmService> {
    const node = await FakeVmService.start({ natsUrl: this.natsUrl, nodeId });
    this.cleanup.defer(`node ${nodeId}`, () => node.stop());
    return node;
  }

  call<Req extends object, Res extends object>(op: Operation<Req, Res>, request: Req): Promise<Res> {
    return this.rpc.call(op, request);
  }

  /** An operation once it has ended. */
  endOf({ operationId }: Pick<OperationView, 'operationId'>): Promise<OperationView> {
    return this.call(imageOps.operation, dto(OperationRequest, { operationId, waitMs: WAIT_MS }));
  }

  async build(): Promise<OperationView> {
    return this.endOf(await this.call(imageOps.build, { name: 'tiny' }));
  }

  async freeze(version: number | null = null): Promise<OperationView> {
    return this.endOf(await this.call(imageOps.freeze, dto(ImageVersionRequest, { name: 'tiny', version })));
  }

  async verify(version: number | null = null): Promise<OperationView> {
    return this.endOf(await this.call(imageOps.verify, dto(ImageVersionRequest, { name: 'tiny', version })));
  }

  /** The newest version, built and frozen now. */
  async makeFrozen(): Promise<ImageVersionView> {
    await this.build();
    await this.freeze();
    return this.newest();
  }

  async newest(): Promise<ImageVersionView> {
    const { versions } = await this.call(imageOps.show, { name: 'tiny' });
    const [version] = versions;
    if (version === undefined) throw new Error('tiny has no version');
    return version;
  }

  resolve(more: Partial<ResolveImageRequest> = {}): Promise<ResolvedImage> {
    return this.call(imageOps.resolve, dto(ResolveImageRequest, { name: 'tiny', ...more }));
  }

  fileOf(version: number, file: string): string {
    return path.join(this.home, 'images', 'tiny', String(version), file);
  }

  /** A path below the home of image-service, also where only its process sees it. */
  inHome(...parts: readonly string[]): string {
    const file = path.join(this.home, ...parts);
    return this.service instanceof ImageServiceProcess ? this.service.seen(file) : file;
  }

  private get service(): RunningService | ImageServiceProcess {
    if (this.running === null) throw new Error('image-service does not run');
    return this.running;
  }

  private async startAll(env: Readonly<Record<string, string>>): Promise<void> {
    const directory = await tempDir('image-service');
    this.cleanup.defer('the home directory', () => directory.remove());
    this.directory = directory.path;
    this.home = path.join(directory.path, 'home');
    this.tools = new ToolsDirectory(path.join(directory.path, 'tools'));
    await this.tools.create();
    const nats = await startNats();
    this.cleanup.defer('nats', () => nats.stop());
    this.natsUrl = nats.url;
    const postgres = await startPostgres();
    this.cleanup.defer('postgres', () => postgres.stop());
    if (this.options.hasVmService ?? true) await this.startVmService();
    this.cleanup.defer('vm-service', async () => this.vmService?.stop());
    await this.connect();
    this.env = {
      INQUEST_HOME: this.home,
      INQUEST_TOOLS_DIRECTORY: this.tools.directory,
      INQUEST_NATS_URL: nats.url,
      INQUEST_DATABASE_URL: await postgres.createDatabase(),
      INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
      INQUEST_TOKEN_SHA256: createHash('sha256').update(TOKEN).digest('hex'),
      INQUEST_LOG_LEVEL: 'fatal',
      INQUEST_TEMPLATE_INTERVAL_MS: '0',
      ...env,
    };
    this.cleanup.defer('image-service', () => this.stopImageService());
    await this.startImageService();
  }

  private async connect(): Promise<void> {
    @Module({ imports: [MessagingModule.forRoot({ serviceName: 'test', natsUrl: this.natsUrl, nodeId: 'test' })] })
    class ClientModule {}
    const client = await NestFactory.createApplicationContext(ClientModule, { logger: false, abortOnError: false });
    this.cleanup.defer('the client', () => client.close());
    this.rpc = client.get(RpcClient);
    this.bus = client.get(EventBus);
  }
}
