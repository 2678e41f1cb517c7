import type { ServiceDefinition } from '@inquest/service';
import { ImageServiceConfig } from './image-service.config';
import { ImageServiceModule } from './image-service.module';

export const imageService: ServiceDefinition<ImageServiceConfig> = {
  name: 'image-service',
  title: 'Inquest image service',
  version: '0.1.0',
  Config: ImageServiceConfig,
  module: (config) => ImageServiceModule.with(config),
};
