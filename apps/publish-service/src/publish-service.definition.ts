import type { ServiceDefinition } from '@inquest/service';
import { PublishServiceConfig } from './publish-service.config';
import { PublishServiceModule } from './publish-service.module';

/** The service as a program runs it. */
export const publishService: ServiceDefinition<PublishServiceConfig> = {
  name: 'publish-service',
  title: 'Inquest publish service',
  version: '0.1.0',
  Config: PublishServiceConfig,
  module: (config) => PublishServiceModule.with(config),
};
