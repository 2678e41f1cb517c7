import { Module, type DynamicModule } from '@nestjs/common';
import { VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { FirecrackerVmDriver } from '@inquest/vm-driver-firecracker';
import { QemuVmDriver } from '@inquest/vm-driver-qemu';
import { MachinePaths } from './machines/machine-paths';
import type { VmServiceConfig } from './vm-service.config';

/** The one place that decides which hypervisor this node has. */
@Module({})
export class DriverModule {
  static with(config: VmServiceConfig): DynamicModule {
    return {
      module: DriverModule,
      providers: [{ provide: VM_DRIVER, useFactory: () => driverFor(config) }],
      exports: [VM_DRIVER],
    };
  }
}

/** The driver that the configuration asks for. Starts nothing. */
export function driverFor(config: VmServiceConfig): VmDriver {
  const { instancesRoot } = new MachinePaths(config);
  const { memoryReserveMib, firecracker: firecrackerBinary } = config;
  switch (config.vmDriver) {
    case 'qemu':
      return new QemuVmDriver({ instancesRoot, memoryReserveMib });
    case 'firecracker':
      return new FirecrackerVmDriver({ instancesRoot, memoryReserveMib, firecrackerBinary });
  }
}
