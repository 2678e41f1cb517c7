import { Module } from '@nestjs/common';
import { VmClient } from '@inquest/vm-client';
import { ImageLifeController } from './images/image-life.controller';
import { ImagesController } from './images/images.controller';
import { OperationEventsController } from './images/operation-events.controller';
import { MachineStreamsController } from './machines/machine-streams.controller';
import { MachinesController } from './machines/machines.controller';
import { MaintenanceModule } from './maintenance/maintenance.module';
import { NodesController } from './nodes/nodes.controller';
import { PublicationsController } from './publications/publications.controller';
import { SessionEventsController } from './sessions/session-events.controller';
import { SessionsController } from './sessions/sessions.controller';

/** The one public edge: turns HTTP into contract calls. No rules, no tables. */
@Module({
  imports: [MaintenanceModule],
  controllers: [
    ImagesController,
    ImageLifeController,
    OperationEventsController,
    MachinesController,
    MachineStreamsController,
    SessionsController,
    SessionEventsController,
    PublicationsController,
    NodesController,
  ],
  providers: [VmClient],
})
export class GatewayModule {}
