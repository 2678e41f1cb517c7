import { Module, type DynamicModule } from '@nestjs/common';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import type { AgentServiceConfig } from './agent-service.config';
import { SessionsRunsTranscript1700000000001 } from './migrations/1700000000001-sessions-runs-transcript';
import { ModelModule } from './runs/model.module';
import { RunEntity } from './runs/run.entity';
import { RunLoop } from './runs/run-loop';
import { RunsRepository } from './runs/runs.repository';
import { RunsService } from './runs/runs.service';
import { SessionClosing } from './sessions/session-closing';
import { SessionEntity } from './sessions/session.entity';
import { SessionOpening } from './sessions/session-opening';
import { SessionsController, SessionsRpcController } from './sessions/sessions.controller';
import { SessionsRepository } from './sessions/sessions.repository';
import { SessionsService } from './sessions/sessions.service';
import { TranscriptEntryEntity } from './transcript/transcript-entry.entity';
import { TranscriptsService } from './transcript/transcripts.service';
import { CheckInternetVerb } from './verbs/check-internet.verb';
import { DoneVerb } from './verbs/done.verb';
import { ListFilesVerb, ReadFileVerb, WriteFileVerb } from './verbs/file-verbs';
import { GitCommitVerb } from './verbs/git-commit.verb';
import { PlanVerb } from './verbs/plan.verb';
import { RunVerb } from './verbs/run.verb';
import { ScreenshotVerb } from './verbs/screenshot.verb';
import { VerbDispatcher } from './verbs/verb-dispatcher';

const SCHEMA = 'agent';

const VERB_HANDLERS = [
  PlanVerb,
  RunVerb,
  ReadFileVerb,
  WriteFileVerb,
  ListFilesVerb,
  ScreenshotVerb,
  CheckInternetVerb,
  GitCommitVerb,
  DoneVerb,
];

/** Sessions, runs, verbs and transcripts. */
@Module({})
export class AgentServiceModule {
  static with(config: AgentServiceConfig): DynamicModule {
    return {
      module: AgentServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [SessionEntity, RunEntity, TranscriptEntryEntity],
          migrations: [outboxMigration(SCHEMA), SessionsRunsTranscript1700000000001],
        }),
        ModelModule.with(config),
      ],
      controllers: [SessionsRpcController, SessionsController],
      providers: [
        VmClient,
        SessionsRepository,
        SessionsService,
        SessionOpening,
        SessionClosing,
        RunsRepository,
        RunsService,
        RunLoop,
        TranscriptsService,
        VerbDispatcher,
        ...VERB_HANDLERS,
      ],
    };
  }
}
