import { Module, type DynamicModule } from '@nestjs/common';
import { DependencyChecks } from './dependency-checks';
import { HealthController } from './health.controller';
import { HEALTH_OPTIONS, type HealthOptions } from './health-options';
import { Readiness } from './readiness';

/** /healthz, /readyz and /health; other modules register their own checks with `Readiness`. */
@Module({})
export class HealthModule {
  static forRoot(options: HealthOptions): DynamicModule {
    return {
      module: HealthModule,
      global: true,
      controllers: [HealthController],
      providers: [{ provide: HEALTH_OPTIONS, useValue: options }, Readiness, DependencyChecks],
      exports: [Readiness],
    };
  }
}
