import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ServiceConfig } from '@inquest/config';
import { HealthModule } from '@inquest/health';
import { HttpModule } from '@inquest/http';
import { MessagingModule } from '@inquest/messaging';
import { MetricsModule } from '@inquest/metrics';
import type { ServiceDefinition } from './service-definition';

@Module({})
class ConfigModule {}

/** The root of every service: what all of them have, and the module of the one. */
@Module({})
export class ServiceModule {
  static of<Config extends ServiceConfig>(definition: ServiceDefinition<Config>, config: Config): DynamicModule {
    const { serviceName, nodeId, tokenSha256, urlSigningKey, httpAllowedHosts: allowedHosts } = config;
    return {
      module: ServiceModule,
      imports: [
        configModule(definition.Config, config),
        MessagingModule.forRoot(config),
        HttpModule.forRoot({ tokenSha256, urlSigningKey, allowedHosts }),
        HealthModule.forRoot({ serviceName, nodeId, version: definition.version }),
        MetricsModule.forRoot({ serviceName }),
        definition.module(config),
      ],
    };
  }
}

/** The configuration can be injected as its own class and as `ServiceConfig`. */
function configModule<Config extends ServiceConfig>(Class: Type<Config>, config: Config): DynamicModule {
  return {
    module: ConfigModule,
    global: true,
    providers: [...new Set<Type>([Class, ServiceConfig])].map((token) => ({ provide: token, useValue: config })),
    exports: [Class, ServiceConfig],
  };
}
