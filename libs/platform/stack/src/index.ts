export { stackError } from './errors';
export { freePort } from './free-port';
export type { EndedProcess } from './home-processes';
export { startNatsServer, type NatsServerOptions, type NatsUser, type RunningServer } from './nats-server';
export { ensureDatabase, startPostgres, type PostgresOptions } from './postgres';
export {
  defaultServices,
  type DefaultServicesOptions,
  type ModelEndpoint,
  type PlatformAccess,
  type ServiceDeclaration,
  type ServiceUrl,
  type StackDeclaration,
} from './service-declaration';
export {
  stackStatus,
  startStack,
  stopStack,
  type StackStatus,
  type StartStackOptions,
  type StopReport,
} from './stack-control';
export { logFilePath, readyFilePath, resolveHome, stackLayout, type StackLayout } from './stack-layout';
export {
  SERVICE_STATES,
  STACK_STATES,
  type ServiceState,
  type ServiceStatus,
  type StackState,
  type StackStateName,
} from './stack-state';
