import { runService } from '@inquest/service';
import { imageService } from './image-service.definition';

void runService(imageService);
