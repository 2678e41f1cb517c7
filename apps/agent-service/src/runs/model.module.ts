import { Module, type DynamicModule } from '@nestjs/common';
import { MODEL_CLIENT, OpenAiModelClient } from '@inquest/model-client';
import type { AgentServiceConfig } from '../agent-service.config';

/** The one place that decides which model client the runs talk to. */
@Module({})
export class ModelModule {
  static with({ modelUrl, modelName, modelApiKey }: AgentServiceConfig): DynamicModule {
    const apiKey = modelApiKey === undefined || modelApiKey === '' ? null : modelApiKey;
    return {
      module: ModelModule,
      providers: [
        {
          provide: MODEL_CLIENT,
          useFactory: () => new OpenAiModelClient({ baseUrl: modelUrl, model: modelName, apiKey }),
        },
      ],
      exports: [MODEL_CLIENT],
    };
  }
}
