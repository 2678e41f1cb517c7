import { ServiceConfig } from '@inquest/config';
import type { ServiceDefinition } from '@inquest/service';
import { GatewayModule } from './gateway.module';

export const gateway: ServiceDefinition<ServiceConfig> = {
  name: 'gateway',
  title: 'Inquest gateway',
  version: '0.1.0',
  Config: ServiceConfig,
  module: () => GatewayModule,
};
