import { runService } from '@inquest/service';
import { gateway } from './gateway.definition';

void runService(gateway);
