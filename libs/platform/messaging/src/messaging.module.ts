import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type INestApplicationContext,
  type Provider,
} from '@nestjs/common';
import type { CustomStrategy } from '@nestjs/microservices';
import { EventBus } from './event-bus';
import { MESSAGING_OPTIONS, type MessagingOptions } from './messaging-options';
import { NatsClient } from './nats-client';
import { RpcClient } from './rpc-client';
import { RpcObservers } from './rpc-observers';
import { RpcServer } from './rpc-server';

const PROVIDERS = [NatsClient, RpcObservers, RpcClient, RpcServer, EventBus];

export type MessagingAsyncOptions = Pick<FactoryProvider<MessagingOptions>, 'inject' | 'useFactory'>;

/** Messaging for a whole application: one NATS connection, `RpcClient`, `EventBus`, and the server behind `@RpcHandler`. */
@Module({})
export class MessagingModule {
  static forRoot(options: MessagingOptions): DynamicModule {
    return moduleWith({ provide: MESSAGING_OPTIONS, useValue: options });
  }

  static forRootAsync({ inject = [], useFactory }: MessagingAsyncOptions): DynamicModule {
    return moduleWith({ provide: MESSAGING_OPTIONS, inject, useFactory });
  }
}

const moduleWith = (options: Provider): DynamicModule => ({
  module: MessagingModule,
  global: true,
  providers: [options, ...PROVIDERS],
  exports: PROVIDERS,
});

/**
 * For `app.connectMicroservice`: answers the `@RpcHandler` methods of an application that imports `MessagingModule`, on
 * the connection of that module.
 */
export const natsMicroserviceOptions = (app: INestApplicationContext): CustomStrategy => ({
  strategy: app.get(RpcServer, { strict: false }),
});
