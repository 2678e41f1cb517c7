import path from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { ImageStore } from '@inquest/image-store';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import type { ImageServiceConfig } from './image-service.config';
import { ImageBuilder } from './images/image-builder';
import { ImageVersionEntity } from './images/image-version.entity';
import { ImageVersionsRepository } from './images/image-versions.repository';
import { ImagesController, ImagesRpcController } from './images/images.controller';
import { ImagesService } from './images/images.service';
import { VersionLog } from './images/version-log';
import { Images1700000000001 } from './migrations/1700000000001-images';
import { OperationEntity } from './operations/operation.entity';
import { OperationsService } from './operations/operations.service';
import { RecipesService } from './recipes/recipes.service';
import { ToolPaths } from './recipes/tool-paths';
import { SmokeGate } from './smoke/smoke-gate';

const SCHEMA = 'image';

/** Images: build, smoke gate, freeze, verify. */
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
          migrations: [outboxMigration(SCHEMA), Images1700000000001],
        }),
      ],
      controllers: [ImagesRpcController, ImagesController],
      providers: [
        { provide: ImageStore, useFactory: () => new ImageStore(path.join(config.home, 'images')) },
        VmClient,
        ToolPaths,
        RecipesService,
        OperationsService,
        ImageVersionsRepository,
        VersionLog,
        ImageBuilder,
        SmokeGate,
        ImagesService,
      ],
    };
  }
}
