import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  CommitRequest,
  CommitView,
  ForgeCheckView,
  ListPublicationsRequest,
  ProjectRequest,
  ProjectView,
  PublicationList,
  PublicationRequest,
  PublicationView,
  publishOps,
  PublishRequest,
  ReleaseRequest,
  ReleaseView,
  RetryOptions,
  RetryRequest,
  StagedView,
  StageProjectRequest,
} from '@inquest/contracts-publish';
import type { ProjectId, PublicationId } from '@inquest/kernel';
import { RpcHandler } from '@inquest/messaging';
import { CommitsService } from './commits/commits.service';
import { ProjectsService } from './projects/projects.service';
import { PublicationsService } from './publications/publications.service';

/** Projects, commits and publications over NATS: the contract of publish-service. */
@Controller()
export class PublishRpcController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly commits: CommitsService,
    private readonly publications: PublicationsService,
  ) {}

  @RpcHandler(publishOps.ensureProject)
  ensureProject(@Payload() { project }: ProjectRequest): Promise<ProjectView> {
    return this.projects.ensure(project as ProjectId);
  }

  @RpcHandler(publishOps.showProject)
  showProject(@Payload() { project }: ProjectRequest): Promise<ProjectView> {
    return this.projects.show(project as ProjectId);
  }

  @RpcHandler(publishOps.stageProject)
  stageProject(@Payload() request: StageProjectRequest): Promise<StagedView> {
    return this.commits.stage(request);
  }

  @RpcHandler(publishOps.commit)
  commit(@Payload() request: CommitRequest): Promise<CommitView> {
    return this.commits.commit(request);
  }

  @RpcHandler(publishOps.publish)
  publish(@Payload() request: PublishRequest): Promise<PublicationView> {
    return this.publications.publish(request);
  }

  @RpcHandler(publishOps.list)
  list(@Payload() request: ListPublicationsRequest): Promise<PublicationList> {
    return this.publications.list(request);
  }

  @RpcHandler(publishOps.show)
  show(@Payload() { publicationId }: PublicationRequest): Promise<PublicationView> {
    return this.publications.show(publicationId as PublicationId);
  }

  @RpcHandler(publishOps.retry)
  retry(@Payload() request: RetryRequest): Promise<PublicationView> {
    return this.publications.retry(request);
  }

  @RpcHandler(publishOps.release)
  release(@Payload() request: ReleaseRequest): Promise<PublicationView> {
    return this.publications.release(request);
  }

  @RpcHandler(publishOps.checkForge)
  checkForge(): Promise<ForgeCheckView> {
    return this.publications.checkForge();
  }
}

/** The same for an administrator over REST, without a gateway. */
@Controller('v1')
export class PublishController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly publications: PublicationsService,
  ) {}

  @Get('publications')
  list(@Query() request: ListPublicationsRequest): Promise<PublicationList> {
    return this.publications.list(request);
  }

  @Get('publications/:publicationId')
  show(@Param() { publicationId }: PublicationRequest): Promise<PublicationView> {
    return this.publications.show(publicationId as PublicationId);
  }

  @Post('publications/:publicationId/retry')
  @HttpCode(200)
  retry(@Param() { publicationId }: PublicationRequest, @Body() options: RetryOptions): Promise<PublicationView> {
    return this.publications.retry({ ...options, publicationId });
  }

  @Post('publications/:publicationId/release')
  @HttpCode(200)
  release(@Param() { publicationId }: PublicationRequest, @Body() release: ReleaseView): Promise<PublicationView> {
    return this.publications.release({ ...release, publicationId });
  }

  @Get('projects/:project')
  project(@Param() { project }: ProjectRequest): Promise<ProjectView> {
    return this.projects.show(project as ProjectId);
  }

  @Get('forge')
  forge(): Promise<ForgeCheckView> {
    return this.publications.checkForge();
  }
}
