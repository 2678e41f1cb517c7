import { Module, type DynamicModule } from '@nestjs/common';
import { VM_DRIVER } from '@inquest/vm-driver';
import { QemuVmDriver } from '@inquest/vm-driver-qemu';
import { MachinePaths } from './machines/machine-paths';
import type { VmServiceConfig } from './vm-service.config';

/** The one place that decides which hypervisor this node has. */
@Module({})
export class DriverModule {
  static with(config: VmServiceConfig): DynamicModule {
    const { instancesRoot } = new MachinePaths(config);
    const { memoryReserveMib } = config;
    return {
      module: DriverModule,
      providers: [{ provide: VM_DRIVER, useFactory: () => new QemuVmDriver({ instancesRoot, memoryReserveMib }) }],
      exports: [VM_DRIVER],
    };
  }
}
