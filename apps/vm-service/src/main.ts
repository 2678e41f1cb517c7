import { runService } from '@inquest/service';
import { vmService } from './vm-service.definition';

void runService(vmService);
