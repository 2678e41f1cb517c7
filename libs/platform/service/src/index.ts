export { runService } from './run-service';
export { type ServiceDefinition } from './service-definition';
export { startService, type RunningService } from './start-service';
