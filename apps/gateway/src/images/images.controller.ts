import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ImageList,
  ImageLogRequest,
  ImageLogView,
  imageOps,
  ImageRequest,
  ImageVersionRequest,
  ImageView,
} from '@inquest/contracts-image';
import { dto, IsId, IsText, IsWhole, Nullable, OperationView } from '@inquest/contracts-base';
import { RpcClient } from '@inquest/messaging';

/** Body of a request about one version; none means the newest that fits. */
export class VersionBody {
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
}

export class LogQuery {
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
}

export class VersionParams extends ImageRequest {
  @IsWhole(1, 1_000_000) readonly version!: number;
}

export class OperationParams {
  @IsId() readonly operationId!: string;
}

/** How long a read may wait for a change. */
export class WaitQuery {
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
  @Nullable() @IsText(512) readonly knownStep: string | null = null;
}

@Controller('v1')
export class ImagesController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('images')
  list(): Promise<ImageList> {
    return this.rpc.call(imageOps.list, {});
  }

  @Get('images/:name')
  show(@Param() { name }: ImageRequest): Promise<ImageView> {
    return this.rpc.call(imageOps.show, { name });
  }

  @Get('images/:name/versions/:version/log')
  log(@Param() { name, version }: VersionParams, @Query() { fromOffset }: LogQuery): Promise<ImageLogView> {
    return this.rpc.call(imageOps.log, dto(ImageLogRequest, { name, version, fromOffset }));
  }

  /** Long work: answers with an operation to be watched at `/v1/operations/{id}?waitMs=`. */
  @Post('images/:name/build')
  @HttpCode(202)
  build(@Param() { name }: ImageRequest): Promise<OperationView> {
    return this.rpc.call(imageOps.build, { name });
  }

  @Post('images/:name/freeze')
  @HttpCode(202)
  freeze(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.rpc.call(imageOps.freeze, dto(ImageVersionRequest, { name, version }));
  }

  @Post('images/:name/verify')
  @HttpCode(202)
  verify(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.rpc.call(imageOps.verify, dto(ImageVersionRequest, { name, version }));
  }

  /** Makes the template where a node has none that it can use, from which machines start as clones. */
  @Post('images/:name/template')
  @HttpCode(202)
  makeTemplate(@Param() { name }: ImageRequest, @Body() { version }: VersionBody): Promise<OperationView> {
    return this.rpc.call(imageOps.makeTemplate, dto(ImageVersionRequest, { name, version }));
  }

  @Get('operations/:operationId')
  operation(@Param() { operationId }: OperationParams, @Query() wait: WaitQuery): Promise<OperationView> {
    return this.rpc.call(imageOps.operation, { operationId, ...wait });
  }
}
