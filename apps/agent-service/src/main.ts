import { runService } from '@inquest/service';
import { agentService } from './agent-service.definition';

void runService(agentService);
