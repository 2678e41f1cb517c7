import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  CancelOperationRequest,
  ImageDiffRequest,
  ImageDiffView,
  imageOps,
  ImageRequest,
  ImageVersionDetail,
  ImageVersionView,
  ImportDeclaration,
  ImportImageRequest,
  NamedVersionRequest,
  UnfreezeRequest,
  UploadImageRequest,
} from '@inquest/contracts-image';
import { IsText, IsWhole, Nullable, OperationView, StreamTicket } from '@inquest/contracts-base';
import { RpcHandler } from '@inquest/messaging';
import { ImageDiffService } from '../diff/image-diff.service';
import { ImageImports } from '../import/image-imports';
import { Uploads } from '../import/uploads';
import { OperationsService } from '../operations/operations.service';
import { VersionDetails } from './version-details';
import { VersionEndings } from './version-endings';
import { WorkingCopies } from './working-copies';

/** The rest of an image's life over NATS: import, working copies, the end of versions, what they hold. */
@Controller()
export class ImageLifeRpcController {
  constructor(
    private readonly imports: ImageImports,
    private readonly uploads: Uploads,
    private readonly copies: WorkingCopies,
    private readonly endings: VersionEndings,
    private readonly details: VersionDetails,
    private readonly comparisons: ImageDiffService,
    private readonly operations: OperationsService,
  ) {}

  @RpcHandler(imageOps.import)
  import(@Payload() request: ImportImageRequest): Promise<OperationView> {
    return this.imports.import(request);
  }

  @RpcHandler(imageOps.openUpload)
  openUpload(@Payload() request: UploadImageRequest): StreamTicket {
    return this.uploads.issue(request);
  }

  @RpcHandler(imageOps.unfreeze)
  unfreeze(@Payload() { name, version, reason }: UnfreezeRequest): Promise<OperationView> {
    return this.copies.unfreeze(name, version, reason);
  }

  @RpcHandler(imageOps.retire)
  retire(@Payload() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.endings.retire(name, version);
  }

  @RpcHandler(imageOps.remove)
  remove(@Payload() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.endings.remove(name, version);
  }

  @RpcHandler(imageOps.showVersion)
  showVersion(@Payload() { name, version }: NamedVersionRequest): Promise<ImageVersionDetail> {
    return this.details.show(name, version);
  }

  @RpcHandler(imageOps.diff)
  diff(@Payload() request: ImageDiffRequest): Promise<ImageDiffView> {
    return this.comparisons.diff(request);
  }

  @RpcHandler(imageOps.cancelOperation)
  cancel(@Payload() { operationId }: CancelOperationRequest): Promise<OperationView> {
    return this.operations.cancel(operationId);
  }
}

/** What an import from the import directory declares. */
export class ImportBody extends ImportDeclaration {
  @IsText(4096, 1) readonly path!: string;
}

export class UnfreezeBody {
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
  @IsText(512, 1) readonly reason!: string;
}

export class DiffQuery {
  @IsWhole(1, 1_000_000) readonly from!: number;
  @IsWhole(1, 1_000_000) readonly to!: number;
}

/** The same for an administrator over REST, without a gateway. */
@Controller('v1')
export class ImageLifeController {
  constructor(
    private readonly imports: ImageImports,
    private readonly copies: WorkingCopies,
    private readonly endings: VersionEndings,
    private readonly details: VersionDetails,
    private readonly comparisons: ImageDiffService,
    private readonly operations: OperationsService,
  ) {}

  @Post('images/:name/import')
  @HttpCode(202)
  import(@Param() { name }: ImageRequest, @Body() body: ImportBody): Promise<OperationView> {
    return this.imports.import({ ...body, name });
  }

  @Post('images/:name/unfreeze')
  @HttpCode(202)
  unfreeze(@Param() { name }: ImageRequest, @Body() { version, reason }: UnfreezeBody): Promise<OperationView> {
    return this.copies.unfreeze(name, version, reason);
  }

  @Get('images/:name/versions/:version')
  showVersion(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionDetail> {
    return this.details.show(name, version);
  }

  @Post('images/:name/versions/:version/retire')
  @HttpCode(200)
  retire(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.endings.retire(name, version);
  }

  @Delete('images/:name/versions/:version')
  remove(@Param() { name, version }: NamedVersionRequest): Promise<ImageVersionView> {
    return this.endings.remove(name, version);
  }

  @Get('images/:name/diff')
  diff(@Param() { name }: ImageRequest, @Query() { from, to }: DiffQuery): Promise<ImageDiffView> {
    return this.comparisons.diff({ name, from, to });
  }

  @Delete('operations/:operationId')
  cancel(@Param() { operationId }: CancelOperationRequest): Promise<OperationView> {
    return this.operations.cancel(operationId);
  }
}
