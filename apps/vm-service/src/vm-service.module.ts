import { Module, type DynamicModule } from '@nestjs/common';
import { ImageStore } from '@inquest/image-store';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import { DriverModule } from './driver.module';
import { EgressMetrics } from './egress/egress-metrics';
import { EgressOffers } from './egress/egress-offers';
import { InternetModule } from './egress/internet.module';
import { GuestMetricsRpcController } from './guest/guest-metrics.controller';
import { GuestVerbsService } from './guest/guest-verbs.service';
import { LiveMachines } from './guest/live-machines';
import { OwnAddress } from './guest/own-address';
import { SerialVerbsRpcController } from './guest/serial-verbs.controller';
import { SerialVerbsService } from './guest/serial-verbs.service';
import { StreamTickets } from './guest/stream-tickets';
import { StreamsController } from './guest/streams.controller';
import { ImageResolver } from './machines/image-resolver';
import { MachineEnds } from './machines/machine-ends';
import { MachineLives } from './machines/machine-lives';
import { MachinePaths } from './machines/machine-paths';
import { MachineEntity } from './machines/machine.entity';
import { MachinesController, MachinesRpcController } from './machines/machines.controller';
import { MachinesRepository } from './machines/machines.repository';
import { MachinesService } from './machines/machines.service';
import { MachineAdoption } from './machines/machine-adoption';
import { Recovery } from './machines/recovery';
import { Machines1700000000001 } from './migrations/1700000000001-machines';
import { MachineOrigin1700000000002 } from './migrations/1700000000002-machine-origin';
import { MachineEgress1700000000003 } from './migrations/1700000000003-machine-egress';
import { HostAccelerator } from './nodes/host-accelerator';
import { MaintenanceMachine1700000000004 } from './migrations/1700000000004-maintenance-machine';
import { MachineClock1700000000005 } from './migrations/1700000000005-machine-clock';
import { MachineShares1700000000006 } from './migrations/1700000000006-machine-shares';
import { MachinePeers1700000000007 } from './migrations/1700000000007-machine-peers';
import { PeersService } from './peers/peers.service';
import { NodeFacts } from './nodes/node-facts';
import { MachineLauncher } from './templates/machine-launcher';
import { Pictures } from './screens/pictures';
import { PicturesController } from './screens/pictures.controller';
import { ScreensRpcController } from './screens/screens.controller';
import { ScreensService } from './screens/screens.service';
import { SharesService } from './shares/shares.service';
import { TemplateMaker } from './templates/template-maker';
import { TemplateStore } from './templates/template-store';
import { TERMINAL_PROVIDERS } from './terminals/terminals.providers';
import { TerminalsRpcController } from './terminals/terminals.controller';
import type { VmServiceConfig } from './vm-service.config';
import { WarmMachines } from './warm-pool/warm-machines';
import { WarmPool } from './warm-pool/warm-pool';
import { WarmStart } from './warm-pool/warm-start';

const SCHEMA = 'vm';

/** Machines on one node: start, verbs, evidence, verdicts. `driver` is the module that provides `VM_DRIVER`, `network` the one with `HOST_NETWORK`. */
@Module({})
export class VmServiceModule {
  static with(
    config: VmServiceConfig,
    driver = DriverModule.with(config),
    network: DynamicModule = { module: InternetModule },
  ): DynamicModule {
    return {
      module: VmServiceModule,
      imports: [
        PersistenceModule.forRoot({
          schema: SCHEMA,
          databaseUrl: config.databaseUrl,
          entities: [MachineEntity],
          migrations: [
            outboxMigration(SCHEMA),
            Machines1700000000001,
            MachineOrigin1700000000002,
            MachineEgress1700000000003,
            MaintenanceMachine1700000000004,
            MachineClock1700000000005,
            MachineShares1700000000006,
            MachinePeers1700000000007,
          ],
        }),
        driver,
        network,
      ],
      controllers: [
        MachinesRpcController,
        MachinesController,
        ScreensRpcController,
        PicturesController,
        SerialVerbsRpcController,
        StreamsController,
        TerminalsRpcController,
        GuestMetricsRpcController,
      ],
      providers: [
        {
          provide: ImageStore,
          inject: [MachinePaths],
          useFactory: (paths: MachinePaths) => new ImageStore(paths.imagesRoot),
        },
        MachinePaths,
        MachinesRepository,
        MachineEnds,
        MachineLives,
        MachinesService,
        ImageResolver,
        MachineAdoption,
        Recovery,
        HostAccelerator,
        NodeFacts,
        LiveMachines,
        GuestVerbsService,
        OwnAddress,
        StreamTickets,
        TemplateStore,
        TemplateMaker,
        MachineLauncher,
        WarmMachines,
        WarmPool,
        WarmStart,
        EgressMetrics,
        EgressOffers,
        Pictures,
        ScreensService,
        SerialVerbsService,
        SharesService,
        PeersService,
        ...TERMINAL_PROVIDERS,
      ],
    };
  }
}
