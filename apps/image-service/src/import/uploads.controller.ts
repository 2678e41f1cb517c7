import { Controller, HttpCode, Param, Put, Query, Req } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { Request } from 'express';
import { dto, IsText, type OperationView } from '@inquest/contracts-base';
import { ImageRequest, ImportDeclaration, UploadImageRequest } from '@inquest/contracts-image';
import { SignedUrl } from '@inquest/http';
import { ImageImports } from './image-imports';

/** What an upload declares, and the signature that was checked before. */
export class SignedDeclaration extends ImportDeclaration {
  @IsText(16) readonly expires!: string;
  @IsText(64) readonly signature!: string;
}

/** Sources of imports as bodies. */
@Controller('v1')
export class UploadsController {
  constructor(private readonly imports: ImageImports) {}

  /** Answers when the whole source was received and has the declared digest; the operation then goes on. */
  @Put('images/:name/import')
  @HttpCode(202)
  @ApiConsumes('application/octet-stream')
  upload(
    @Param() { name }: ImageRequest,
    @Query() declaration: ImportDeclaration,
    @Req() body: Request,
  ): Promise<OperationView> {
    return this.imports.upload({ ...declaration, name }, body);
  }

  /** The same at an address that was handed out for one upload. */
  @Put('uploads/:name')
  @HttpCode(202)
  @SignedUrl()
  @ApiConsumes('application/octet-stream')
  signedUpload(
    @Param() { name }: ImageRequest,
    @Query() { expires: _expires, signature: _signature, ...declaration }: SignedDeclaration,
    @Req() body: Request,
  ): Promise<OperationView> {
    return this.imports.upload(dto(UploadImageRequest, { ...declaration, name }), body);
  }
}
