import { Module, type DynamicModule } from '@nestjs/common';
import { ImageStore } from '@inquest/image-store';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { DriverModule } from './driver.module';
import { GuestVerbsService } from './guest/guest-verbs.service';
import { LiveMachines } from './guest/live-machines';
import { StreamTickets } from './guest/stream-tickets';
import { StreamsController } from './guest/streams.controller';
import { ImageResolver } from './machines/image-resolver';
import { MachineLives } from './machines/machine-lives';
import { MachinePaths } from './machines/machine-paths';
import { MachineEntity } from './machines/machine.entity';
import { MachinesController, MachinesRpcController } from './machines/machines.controller';
import { MachinesRepository } from './machines/machines.repository';
import { MachinesService } from './machines/machines.service';
import { Recovery } from './machines/recovery';
import { Machines1700000000001 } from './migrations/1700000000001-machines';
import { NodeFacts } from './nodes/node-facts';
import type { VmServiceConfig } from './vm-service.config';

const SCHEMA = 'vm';

/** Machines on one node: start, verbs, evidence, verdicts. */
@Module({})
export class VmServiceModule {
  static with(config: VmServiceConfig): DynamicModule {
    return {
      module: VmServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [MachineEntity],
          migrations: [outboxMigration(SCHEMA), Machines1700000000001],
        }),
        DriverModule.with(config),
      ],
      controllers: [MachinesRpcController, MachinesController, StreamsController],
      providers: [
        {
          provide: ImageStore,
          inject: [MachinePaths],
          useFactory: (paths: MachinePaths) => new ImageStore(paths.imagesRoot),
        },
        MachinePaths,
        MachinesRepository,
        MachineLives,
        MachinesService,
        ImageResolver,
        Recovery,
        NodeFacts,
        LiveMachines,
        GuestVerbsService,
        StreamTickets,
      ],
    };
  }
}
