import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ForgeCheckView,
  ListPublicationsRequest,
  ProjectRequest,
  ProjectView,
  PublicationList,
  PublicationRequest,
  PublicationView,
  publishOps,
  ReleaseView,
  RetryOptions,
} from '@inquest/contracts-publish';
import { RpcClient } from '@inquest/messaging';

@Controller('v1')
export class PublicationsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('publications')
  list(@Query() page: ListPublicationsRequest): Promise<PublicationList> {
    return this.rpc.call(publishOps.list, page);
  }

  @Get('publications/:publicationId')
  show(@Param() request: PublicationRequest): Promise<PublicationView> {
    return this.rpc.call(publishOps.show, request);
  }

  @Post('publications/:publicationId/retry')
  @HttpCode(200)
  retry(@Param() { publicationId }: PublicationRequest, @Body() options: RetryOptions): Promise<PublicationView> {
    return this.rpc.call(publishOps.retry, { ...options, publicationId });
  }

  @Post('publications/:publicationId/release')
  @HttpCode(200)
  release(@Param() { publicationId }: PublicationRequest, @Body() release: ReleaseView): Promise<PublicationView> {
    return this.rpc.call(publishOps.release, { ...release, publicationId });
  }

  @Get('projects/:project')
  project(@Param() request: ProjectRequest): Promise<ProjectView> {
    return this.rpc.call(publishOps.showProject, request);
  }

  @Get('forge')
  forge(): Promise<ForgeCheckView> {
    return this.rpc.call(publishOps.checkForge, {});
  }
}
