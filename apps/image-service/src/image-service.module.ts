import path from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { ImageStore } from '@inquest/image-store';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import type { ImageServiceConfig } from './image-service.config';
import { ImageDiffService } from './diff/image-diff.service';
import { BuildTools } from './images/build-tools';
import { BuildDirectories } from './images/build-directories';
import { ImageBuilder } from './images/image-builder';
import { ImageLifeController, ImageLifeRpcController } from './images/image-life.controller';
import { ImageVersionEntity } from './images/image-version.entity';
import { ImageVersionsRepository } from './images/image-versions.repository';
import { ImagesController, ImagesRpcController } from './images/images.controller';
import { ImageLifecycle } from './images/image-lifecycle';
import { ImagesService } from './images/images.service';
import { KernelCache } from './images/kernel-cache';
import { ScheduledVerification } from './images/scheduled-verification';
import { VersionDetails } from './images/version-details';
import { VersionEndings } from './images/version-endings';
import { VersionLog } from './images/version-log';
import { VersionMaking } from './images/version-making';
import { VersionUsers } from './images/version-users';
import { WorkingCopies } from './images/working-copies';
import { ImageImporter } from './import/image-importer';
import { ImageImports } from './import/image-imports';
import { ImportDirectory } from './import/import-directory';
import { Uploads } from './import/uploads';
import { UploadsController } from './import/uploads.controller';
import { Images1700000000001 } from './migrations/1700000000001-images';
import { BootParameters1700000000002 } from './migrations/1700000000002-boot-parameters';
import { ImageLife1700000000003 } from './migrations/1700000000003-image-life';
import { FreezeDurations1700000000005 } from './migrations/1700000000005-freeze-durations';
import { OperationEntity } from './operations/operation.entity';
import { OperationEventsController } from './operations/operation-events.controller';
import { OperationsService } from './operations/operations.service';
import { RecipesService } from './recipes/recipes.service';
import { ToolPaths } from './recipes/tool-paths';
import { SmokeGate } from './smoke/smoke-gate';
import { SmokeMachines } from './smoke/smoke-machines';
import { TemplateUpkeep } from './templates/template-upkeep';
import { VersionTemplates } from './templates/version-templates';

const SCHEMA = 'image';

/** Images: build and import, smoke gate, freeze, working copies, verify, retire, compare. */
@Module({})
export class ImageServiceModule {
  static with(config: ImageServiceConfig): DynamicModule {
    return {
      module: ImageServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [ImageVersionEntity, OperationEntity],
          migrations: [
            outboxMigration(SCHEMA),
            Images1700000000001,
            BootParameters1700000000002,
            ImageLife1700000000003,
            FreezeDurations1700000000005,
          ],
        }),
      ],
      controllers: [
        ImagesRpcController,
        ImagesController,
        ImageLifeRpcController,
        ImageLifeController,
        UploadsController,
        OperationEventsController,
      ],
      providers: [
        { provide: ImageStore, useFactory: () => new ImageStore(path.join(config.home, 'images')) },
        VmClient,
        ToolPaths,
        RecipesService,
        OperationsService,
        ImageVersionsRepository,
        VersionLog,
        BuildDirectories,
        BuildTools,
        KernelCache,
        ImageBuilder,
        VersionMaking,
        VersionUsers,
        WorkingCopies,
        VersionEndings,
        VersionDetails,
        ScheduledVerification,
        ImportDirectory,
        ImageImporter,
        ImageImports,
        Uploads,
        ImageDiffService,
        SmokeMachines,
        SmokeGate,
        VersionTemplates,
        TemplateUpkeep,
        ImageLifecycle,
        ImagesService,
      ],
    };
  }
}
