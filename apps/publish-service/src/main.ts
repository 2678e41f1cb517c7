import { runService } from '@inquest/service';
import { publishService } from './publish-service.definition';

void runService(publishService);
