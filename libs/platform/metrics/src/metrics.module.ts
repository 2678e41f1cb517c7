import {
  Module,
  type DynamicModule,
  type MiddlewareConsumer,
  type NestModule,
  type OnModuleInit,
} from '@nestjs/common';
import { RpcObservers } from '@inquest/messaging';
import { Metrics } from './metrics';
import { MetricsController } from './metrics.controller';
import { measureHttp } from './metrics.middleware';

export interface MetricsOptions {
  readonly serviceName: string;
}

/** /metrics: the process, HTTP requests and calls on NATS. Own series go to `Metrics.registry`. */
@Module({})
export class MetricsModule implements NestModule, OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly observers: RpcObservers,
  ) {}

  static forRoot({ serviceName }: MetricsOptions): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [{ provide: Metrics, useFactory: () => new Metrics(serviceName) }],
      exports: [Metrics],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(measureHttp(this.metrics)).forRoutes('*path');
  }

  onModuleInit(): void {
    this.observers.add(({ side, subject, outcome, durationMs }) =>
      this.metrics.rpcDuration.observe({ side, subject, outcome }, durationMs / 1000),
    );
  }
}
