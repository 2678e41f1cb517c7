import { IsInt, IsOptional, IsString, IsUrl, Max, Min } from 'class-validator';
import { Env, ServiceConfig } from '@inquest/config';

/** What agent-service reads from its environment, besides what every service reads. */
export class AgentServiceConfig extends ServiceConfig {
  @Env('INQUEST_MODEL_URL', { description: 'Base URL of an OpenAI-compatible endpoint, up to and including /v1' })
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  readonly modelUrl!: string;

  @Env('INQUEST_MODEL_NAME', { description: 'Model to ask for', default: 'scripted' })
  @IsString()
  readonly modelName!: string;

  @Env('INQUEST_MODEL_API_KEY', { description: 'Key of the model endpoint', secret: true })
  @IsOptional()
  @IsString()
  readonly modelApiKey?: string;

  @Env('INQUEST_RUN_MAX_TURNS', { description: 'Model turns that one run may take', default: '60' })
  @IsInt()
  @Min(1)
  @Max(1000)
  readonly runMaxTurns!: number;

  @Env('INQUEST_MACHINE_READY_TIMEOUT_MS', {
    description: 'How long a session waits for its machine to become ready',
    default: '180000',
  })
  @IsInt()
  @Min(1000)
  @Max(3_600_000)
  readonly machineReadyTimeoutMs!: number;

  @Env('INQUEST_CONFIRMATION_TIMEOUT_MS', {
    description: 'How long a run waits for a person to answer; at most a week',
    default: '3600000',
  })
  @IsInt()
  @Min(1000)
  @Max(604_800_000)
  readonly confirmationTimeoutMs!: number;
}
