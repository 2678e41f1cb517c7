import type { DynamicModule, Type } from '@nestjs/common';
import type { ServiceConfig } from '@inquest/config';

/** What one service is: the whole of its main file. */
export interface ServiceDefinition<Config extends ServiceConfig> {
  /** `vm-service`: its name in logs, metrics, at NATS and in queue groups. */
  readonly name: string;
  /** Of its OpenAPI document. */
  readonly title: string;
  readonly version: string;
  readonly Config: new () => Config;
  /** Made after the configuration was read. */
  readonly module: (config: Config) => DynamicModule | Type;
}
