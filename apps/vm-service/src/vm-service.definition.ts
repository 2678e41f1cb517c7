import type { ServiceDefinition } from '@inquest/service';
import { VmServiceConfig } from './vm-service.config';
import { VmServiceModule } from './vm-service.module';

export const vmService: ServiceDefinition<VmServiceConfig> = {
  name: 'vm-service',
  title: 'Inquest VM service',
  version: '0.1.0',
  Config: VmServiceConfig,
  module: (config) => VmServiceModule.with(config),
};
