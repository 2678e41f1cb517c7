import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  ImageList,
  ImageLogRequest,
  ImageLogView,
  ImageOperationRequest,
  imageOps,
  ImageRequest,
  ImageVersionRequest,
  ImageView,
  ResolvedImage,
  ResolveImageRequest,
} from '@inquest/contracts-image';
import { IsId, IsText, IsWhole, Nullable, OperationView } from '@inquest/contracts-base';
import { RpcHandler } from '@inquest/messaging';
import { OperationsService } from '../operations/operations.service';
import { ImageLifecycle } from './image-lifecycle';
import { ImagesService } from './images.service';

/** Images over NATS: the contract of image-service. */
@Controller()
export class ImagesRpcController {
  constructor(
    private readonly images: ImagesService,
    private readonly lifecycle: ImageLifecycle,
    private readonly operations: OperationsService,
  ) {}

  @RpcHandler(imageOps.list)
  list(): Promise<ImageList> {
    return this.images.list();
  }

  @RpcHandler(imageOps.show)
  show(@Payload() { name }: ImageRequest): Promise<ImageView> {
    return this.images.show(name);
  }

  @RpcHandler(imageOps.build)
  build(@Payload() { name }: ImageRequest): Promise<OperationView> {
    return this.lifecycle.build(name);
  }

  @RpcHandler(imageOps.freeze)
  freeze(@Payload() { name, version }: ImageVersionRequest): Promise<OperationView> {
    return this.lifecycle.freeze(name, version);
  }

  @RpcHandler(imageOps.verify)
  verify(@Payload() { name, version }: ImageVersionRequest): Promise<OperationView> {
    return this.lifecycle.verify(name, version);
  }

  @RpcHandler(imageOps.makeTemplate)
  makeTemplate(@Payload() { name, version }: ImageVersionRequest): Promise<OperationView> {
    return this.lifecycle.makeTemplate(name, version);
  }

  @RpcHandler(imageOps.operation)
  operation(@Payload() request: ImageOperationRequest): Promise<OperationView> {
    return this.operations.show(request);
  }

  @RpcHandler(imageOps.log)
  log(@Payload() { name, version, fromOffset }: ImageLogRequest): Promise<ImageLogView> {
    return this.images.readLog(name, version, fromOffset);
  }

  @RpcHandler(imageOps.resolve)
  resolve(@Payload() request: ResolveImageRequest): Promise<ResolvedImage> {
    return this.images.resolve(request);
  }
}

/** Optional version in a body. */
export class VersionBody {
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
}

/** How long a read may wait for a change. */
export class WaitQuery {
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
  @Nullable() @IsText(512) readonly knownStep: string | null = null;
}

export class OperationParams {
  @IsId() readonly operationId!: string;
}

export class VersionParams extends ImageRequest {
  @IsWhole(1, 1_000_000) readonly version!: number;
}

export class LogQuery {
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
}

/** The same for an administrator over REST, without a gateway. Long work answers 202 with an operation. */
@Controller('v1')
export class ImagesController {
  constructor(
    private readonly images: ImagesService,
    private readonly lifecycle: ImageLifecycle,
    private readonly operations: OperationsService,
  ) {}

  @Get('images')
  list(): Promise<ImageList> {
    return this.images.list();
  }

  @Get('images/:name')
  show(@Param() { name }: ImageRequest): Promise<ImageView> {
    return this.images.show(name);
  }

  @Get('images/:name/versions/:version/log')
  log(@Param() { name, version }: VersionParams, @Query() { fromOffset }: LogQuery): Promise<ImageLogView> {
    return this.images.readLog(name, version, fromOffset);
  }

  @Post('images/:name/build')
  @HttpCode(202)
  build(@Param() { name }: ImageRequest): Promise<OperationView> {
    return this.lifecycle.build(name);
  }

  @Post('images/:name/freeze')
  @HttpCode(202)
  freeze(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.lifecycle.freeze(name, version);
  }

  @Post('images/:name/verify')
  @HttpCode(202)
  verify(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.lifecycle.verify(name, version);
  }

  @Post('images/:name/template')
  @HttpCode(202)
  makeTemplate(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.lifecycle.makeTemplate(name, version);
  }

  @Get('operations/:operationId')
  operation(@Param() { operationId }: OperationParams, @Query() wait: WaitQuery): Promise<OperationView> {
    return this.operations.show({ operationId, ...wait });
  }
}
