import { Module } from '@nestjs/common';
import { AppFiles } from './app-files';
import { MaintenanceController } from './maintenance.controller';

/** The maintenance app, as files: what it shows comes from the same API that everybody else uses. */
@Module({
  controllers: [MaintenanceController],
  providers: [{ provide: AppFiles, useFactory: () => new AppFiles() }],
})
export class MaintenanceModule {}
