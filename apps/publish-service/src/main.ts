import { runService } from '@inquest/service';
import { PublishServiceConfig } from './publish-service.config';
import { PublishServiceModule } from './publish-service.module';

void runService({
  name: 'publish-service',
  title: 'Inquest publish service',
  version: '0.1.0',
  Config: PublishServiceConfig,
  module: (config) => PublishServiceModule.with(config),
});
