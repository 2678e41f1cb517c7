import { ServiceConfig } from '@inquest/config';
import { runService } from '@inquest/service';
import { GatewayModule } from './gateway.module';

void runService({
  name: 'gateway',
  title: 'Inquest gateway',
  version: '0.1.0',
  Config: ServiceConfig,
  module: () => GatewayModule,
});
