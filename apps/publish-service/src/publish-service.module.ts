import { Module, type DynamicModule } from '@nestjs/common';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import { CommitEntity } from './commits/commit.entity';
import { CommitsService } from './commits/commits.service';
import { GuestTransfer } from './commits/guest-transfer';
import { SessionBaseEntity } from './commits/session-base.entity';
import { SessionHistory } from './commits/session-history';
import { ForgeModule } from './forge.module';
import { ProjectsCommitsPublications1700000000001 } from './migrations/1700000000001-projects-commits-publications';
import { PublicationSteps1700000000002 } from './migrations/1700000000002-publication-steps';
import { RulesProblem1700000000003 } from './migrations/1700000000003-rules-problem';
import { ProjectEntity } from './projects/project.entity';
import { ProjectsService } from './projects/projects.service';
import { ForgeSteps } from './publications/forge-steps';
import { PublicationRecovery } from './publications/publication-recovery';
import { PublicationEntity } from './publications/publication.entity';
import { PublicationsRepository } from './publications/publications.repository';
import { PublicationsService } from './publications/publications.service';
import { Publisher } from './publications/publisher';
import type { PublishServiceConfig } from './publish-service.config';
import { PublishController, PublishRpcController } from './publish.controller';

const SCHEMA = 'publish';

/** Host-side git: commit with the scratch filter, push to the forge. */
@Module({})
export class PublishServiceModule {
  static with(config: PublishServiceConfig): DynamicModule {
    return {
      module: PublishServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [ProjectEntity, SessionBaseEntity, CommitEntity, PublicationEntity],
          migrations: [
            outboxMigration(SCHEMA),
            ProjectsCommitsPublications1700000000001,
            PublicationSteps1700000000002,
            RulesProblem1700000000003,
          ],
        }),
        ForgeModule.with(config),
      ],
      controllers: [PublishRpcController, PublishController],
      providers: [
        VmClient,
        ProjectsService,
        GuestTransfer,
        CommitsService,
        SessionHistory,
        PublicationsRepository,
        ForgeSteps,
        Publisher,
        PublicationRecovery,
        PublicationsService,
      ],
    };
  }
}
