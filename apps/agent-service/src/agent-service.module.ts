import { Module, type DynamicModule } from '@nestjs/common';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import type { AgentServiceConfig } from './agent-service.config';
import { ConfirmationEntity } from './confirmations/confirmation.entity';
import { ConfirmationsController, ConfirmationsRpcController } from './confirmations/confirmations.controller';
import { ConfirmationsRepository } from './confirmations/confirmations.repository';
import { ConfirmationsService } from './confirmations/confirmations.service';
import { SessionsRunsTranscript1700000000001 } from './migrations/1700000000001-sessions-runs-transcript';
import { SessionWithoutHasCommit1700000000002 } from './migrations/1700000000002-session-without-has-commit';
import { SessionAllowedHosts1700000000003 } from './migrations/1700000000003-session-allowed-hosts';
import { Confirmations1700000000004 } from './migrations/1700000000004-confirmations';
import { ModelModule } from './runs/model.module';
import { RunEntity } from './runs/run.entity';
import { RunEnding } from './runs/run-ending';
import { RunLoop } from './runs/run-loop';
import { RunsRepository } from './runs/runs.repository';
import { RunsService } from './runs/runs.service';
import { SessionClosing } from './sessions/session-closing';
import { SessionEntity } from './sessions/session.entity';
import { SessionLifecycle } from './sessions/session-lifecycle';
import { SessionOpening } from './sessions/session-opening';
import { SessionsController, SessionsRpcController } from './sessions/sessions.controller';
import { SessionsRepository } from './sessions/sessions.repository';
import { SessionsService } from './sessions/sessions.service';
import { Redaction } from './transcript/redaction';
import { TranscriptEntryEntity } from './transcript/transcript-entry.entity';
import { TranscriptRecords } from './transcript/transcript-records';
import { TranscriptsService } from './transcript/transcripts.service';
import { AskVerb } from './verbs/ask.verb';
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
  AskVerb,
  DoneVerb,
];

/** Sessions, runs, verbs and transcripts. */
@Module({})
export class AgentServiceModule {
  /** `model` provides `MODEL_CLIENT`. */
  static with(config: AgentServiceConfig, model: DynamicModule = ModelModule.with(config)): DynamicModule {
    return {
      module: AgentServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [SessionEntity, RunEntity, TranscriptEntryEntity, ConfirmationEntity],
          migrations: [
            outboxMigration(SCHEMA),
            SessionsRunsTranscript1700000000001,
            SessionWithoutHasCommit1700000000002,
            SessionAllowedHosts1700000000003,
            Confirmations1700000000004,
          ],
        }),
        model,
      ],
      controllers: [SessionsRpcController, SessionsController, ConfirmationsRpcController, ConfirmationsController],
      providers: [
        VmClient,
        SessionsRepository,
        SessionsService,
        SessionOpening,
        SessionClosing,
        SessionLifecycle,
        ConfirmationsRepository,
        ConfirmationsService,
        RunsRepository,
        RunsService,
        RunLoop,
        RunEnding,
        Redaction,
        TranscriptRecords,
        TranscriptsService,
        VerbDispatcher,
        ...VERB_HANDLERS,
      ],
    };
  }
}
