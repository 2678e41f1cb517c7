import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  CancelOperationRequest,
  ImageDiffView,
  imageOps,
  ImageRequest,
  ImageVersionDetail,
  ImageVersionView,
  ImportDeclaration,
  NamedVersionRequest,
} from '@inquest/contracts-image';
import { IsText, IsWhole, Nullable, OperationView } from '@inquest/contracts-base';
import { RpcClient } from '@inquest/messaging';
import { passThrough, requireStream } from '../machines/stream-proxy';

/** What an import from the import directory of image-service declares. */
export class ImportBody extends ImportDeclaration {
  @IsText(4096, 1) readonly path!: string;
}

export class UnfreezeBody {
  /** Null means the newest frozen version. */
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
  @IsText(512, 1) readonly reason!: string;
}

export class DiffQuery {
  @IsWhole(1, 1_000_000) readonly from!: number;
  @IsWhole(1, 1_000_000) readonly to!: number;
}

/** The rest of an image's life: import, working copies, the end of versions, what they hold. */
@Controller('v1')
export class ImageLifeController {
  constructor(private readonly rpc: RpcClient) {}

  @Post('images/:name/import')
  @HttpCode(202)
  import(@Param() { name }: ImageRequest, @Body() body: ImportBody): Promise<OperationView> {
    return this.rpc.call(imageOps.import, { ...body, name });
  }

  /** Takes the source as the body. Answers once it was received whole with the declared digest; the operation goes on. */
  @Put('images/:name/import')
  @ApiConsumes('application/octet-stream')
  async upload(
    @Param() { name }: ImageRequest,
    @Query() declaration: ImportDeclaration,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    const input = requireStream(caller);
    const ticket = await this.rpc.call(imageOps.openUpload, { ...declaration, name });
    await passThrough(ticket, input, answer);
  }

  @Post('images/:name/unfreeze')
  @HttpCode(202)
  unfreeze(@Param() { name }: ImageRequest, @Body() { version, reason }: UnfreezeBody): Promise<OperationView> {
    return this.rpc.call(imageOps.unfreeze, { name, version, reason });
  }

  @Get('images/:name/versions/:version')
  showVersion(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionDetail> {
    return this.rpc.call(imageOps.showVersion, { name, version });
  }

  @Post('images/:name/versions/:version/retire')
  @HttpCode(200)
  retire(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.rpc.call(imageOps.retire, { name, version });
  }

  /** Removes the files of a version that is not frozen; of an open working copy, this discards it. */
  @Delete('images/:name/versions/:version')
  remove(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.rpc.call(imageOps.remove, { name, version });
  }

  @Get('images/:name/diff')
  diff(@Param() { name }: ImageRequest, @Query() { from, to }: DiffQuery): Promise<ImageDiffView> {
    return this.rpc.call(imageOps.diff, { name, from, to });
  }

  @Delete('operations/:operationId')
  cancel(@Param() { operationId }: CancelOperationRequest): Promise<OperationView> {
    return this.rpc.call(imageOps.cancelOperation, { operationId });
  }
}
