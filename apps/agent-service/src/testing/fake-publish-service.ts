import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import {
  CommitRequest,
  CommitView,
  ProjectRequest,
  ProjectView,
  PublicationView,
  publishError,
  publishOps,
  PublishRequest,
  StagedView,
  StageProjectRequest,
} from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { CleanupStack } from '@inquest/kernel';
import { MessagingModule, natsMicroserviceOptions, RpcHandler } from '@inquest/messaging';

const COMMIT = 'c0ffee'.padEnd(40, '0');

/** A publish-service without repositories, on a real NATS: it answers what agent-service asks, and remembers it. */
export class FakePublishService {
  readonly commits: CommitRequest[] = [];
  readonly staged: StageProjectRequest[] = [];
  readonly published: PublishRequest[] = [];
  /** Thrown by every `stage-project` while it is set. */
  stageFailure: Error | null = null;
  private readonly cleanup = new CleanupStack();

  static async start(natsUrl: string): Promise<FakePublishService> {
    const service = new FakePublishService();
    await service.listen(natsUrl);
    return service;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  commit(request: CommitRequest): CommitView {
    this.commits.push(request);
    const held = [{ path: 'scratch.log', rule: 'throwaway/log', why: 'It is a log.' }];
    return dto(CommitView, {
      commit: COMMIT,
      branch: 'main',
      keptCount: 1,
      kept: ['hello.txt'],
      heldCount: 1,
      held,
      refusedCount: 0,
      refused: [],
    });
  }

  publish(request: PublishRequest): PublicationView {
    this.published.push(request);
    if (!this.commits.some(({ sessionId }) => sessionId === request.sessionId)) {
      throw publishError('PUBLISH_NOTHING_COMMITTED', `session ${request.sessionId} has made no commit`);
    }
    return dto(PublicationView, {
      publicationId: `pub-${request.sessionId}`,
      sessionId: request.sessionId,
      project: request.project,
      state: 'published',
      forge: 'fake',
      branch: 'main',
      commit: COMMIT,
      url: `http://forge.invalid/${request.project}`,
      isVerified: true,
      message: 'published',
      error: null,
      attempts: 1,
      heldCount: 0,
      held: [],
      createdAtMs: 0,
      publishedAtMs: 0,
    });
  }

  private async listen(natsUrl: string): Promise<void> {
    @Module({
      imports: [MessagingModule.forRoot({ serviceName: 'publish-service', natsUrl, nodeId: 'fake' })],
      controllers: [controllerOf(this)],
    })
    class FakePublishModule {}
    const app = await NestFactory.create(FakePublishModule, { logger: false, abortOnError: false });
    this.cleanup.defer('the application', () => app.close());
    app.connectMicroservice(natsMicroserviceOptions(app));
    await app.init();
    await app.startAllMicroservices();
  }
}

function controllerOf(service: FakePublishService) {
  @Controller()
  class FakePublishController {
    @RpcHandler(publishOps.ensureProject)
    ensure(@Payload() { project }: ProjectRequest): ProjectView {
      return dto(ProjectView, { project, head: null, defaultBranch: 'main', createdAtMs: 0 });
    }

    @RpcHandler(publishOps.stageProject)
    stage(@Payload() request: StageProjectRequest): StagedView {
      if (service.stageFailure !== null) throw service.stageFailure;
      service.staged.push(request);
      return dto(StagedView, { entries: 0, sizeBytes: 0 });
    }

    @RpcHandler(publishOps.commit)
    commit(@Payload() request: CommitRequest): CommitView {
      return service.commit(request);
    }

    @RpcHandler(publishOps.publish)
    publish(@Payload() request: PublishRequest): PublicationView {
      return service.publish(request);
    }
  }
  return FakePublishController;
}
