import type { ServiceDefinition } from '@inquest/service';
import { AgentServiceConfig } from './agent-service.config';
import { AgentServiceModule } from './agent-service.module';

/** The service as a program runs it. */
export const agentService: ServiceDefinition<AgentServiceConfig> = {
  name: 'agent-service',
  title: 'Inquest agent service',
  version: '0.1.0',
  Config: AgentServiceConfig,
  module: (config) => AgentServiceModule.with(config),
};
