import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Controller, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { imageError, imageOps, type ResolvedImage, type ResolveImageRequest } from '@inquest/contracts-image';
import { ImageStore, recordedFiles, type VersionRecord } from '@inquest/image-store';
import { EventBus, MessagingModule, natsMicroserviceOptions, RpcClient, RpcHandler } from '@inquest/messaging';

/** Sealed versions of `tiny` with real files, resolved as image-service would; and a client for calls of the test. */
export class FakeImageService {
  private readonly versions = new Map<number, VersionRecord>();

  private constructor(
    private readonly imagesRoot: string,
    private readonly app: INestApplication,
    readonly rpc: RpcClient,
    readonly bus: EventBus,
  ) {}

  /** Answers on `natsUrl` with versions in the image store of `home`. */
  static async start(natsUrl: string, home: string): Promise<FakeImageService> {
    const state: { service: FakeImageService | null } = { service: null };
    @Controller()
    class ResolveController {
      @RpcHandler(imageOps.resolve)
      resolve(@Payload() request: ResolveImageRequest): ResolvedImage {
        if (state.service === null) throw imageError('IMAGE_UNKNOWN', 'the fake is not ready');
        return state.service.resolve(request);
      }
    }
    @Module({
      imports: [MessagingModule.forRoot({ serviceName: 'image-service', natsUrl, nodeId: 'images' })],
      controllers: [ResolveController],
    })
    class FakeImageModule {}
    const app = await NestFactory.create(FakeImageModule, { logger: false, abortOnError: false });
    app.connectMicroservice<object>(natsMicroserviceOptions(app));
    await app.init();
    await app.startAllMicroservices();
    state.service = new FakeImageService(path.join(home, 'images'), app, app.get(RpcClient), app.get(EventBus));
    return state.service;
  }

  /** Freezes the next version; machines that name none get the first. */
  async freeze(): Promise<number> {
    const store = new ImageStore(this.imagesRoot);
    const staging = await store.stage();
    for (const file of ['disk.raw', 'vmlinux', 'initramfs.cpio'] as const) {
      await writeFile(staging.pathOf(file), `content of ${file}`);
    }
    const version = this.versions.size + 1;
    await store.place(staging, { name: 'tiny', version });
    this.versions.set(version, await store.seal({ name: 'tiny', version }, new AbortController().signal));
    return version;
  }

  /** Nothing starts on a version any more; its files stay. */
  retire(version: number): void {
    this.versions.delete(version);
  }

  fileOf(version: number, file: string): string {
    return path.join(this.imagesRoot, 'tiny', String(version), file);
  }

  stop(): Promise<void> {
    return this.app.close();
  }

  private resolve({ name, version }: ResolveImageRequest): ResolvedImage {
    const number = version ?? 1;
    const record = name === 'tiny' ? this.versions.get(number) : undefined;
    if (record === undefined) throw imageError('IMAGE_UNKNOWN', `no image ${name}:${number} is known`);
    return {
      name,
      version: number,
      files: recordedFiles(record).map(([file, entry]) => ({ file, verityDigest: null, ...entry })),
      kernelArguments: [],
      defaultMemoryMib: 128,
      hasScreen: false,
    };
  }
}
