import { Module } from '@nestjs/common';
import { VmClient } from '@inquest/vm-client';
import { ConfirmationEventsController } from './confirmations/confirmation-events.controller';
import { ConfirmationsController } from './confirmations/confirmations.controller';
import { ImageLifeController } from './images/image-life.controller';
import { ImagesController } from './images/images.controller';
import { OperationEventsController } from './images/operation-events.controller';
import { MachineReportsController } from './machines/machine-reports.controller';
import { MachineStreamsController } from './machines/machine-streams.controller';
import { MachinesController } from './machines/machines.controller';
import { GroupsController } from './machines/groups.controller';
import { ScreensController } from './machines/screens.controller';
import { MaintenanceModule } from './maintenance/maintenance.module';
import { NodesController } from './nodes/nodes.controller';
import { PublicationsController } from './publications/publications.controller';
import { SessionEventsController } from './sessions/session-events.controller';
import { SessionsController } from './sessions/sessions.controller';
import { TerminalPassage } from './terminals/terminal-passage';
import { TerminalsController } from './terminals/terminals.controller';

/** The one public edge: turns HTTP into contract calls. No rules, no tables. */
@Module({
  imports: [MaintenanceModule],
  controllers: [
    ImagesController,
    ImageLifeController,
    OperationEventsController,
    MachinesController,
    MachineStreamsController,
    MachineReportsController,
    ScreensController,
    GroupsController,
    TerminalsController,
    SessionsController,
    SessionEventsController,
    // Before the one whose `:confirmationId` would take its path.
    ConfirmationEventsController,
    ConfirmationsController,
    PublicationsController,
    NodesController,
  ],
  providers: [VmClient, TerminalPassage],
})
export class GatewayModule {}
