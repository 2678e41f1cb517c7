import path from 'node:path';
import { IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { Env } from '@inquest/config';

/** What the scripted model reads from its environment. */
export class ScriptedModelConfig {
  // Loopback only: whoever reaches it may play the scenario.
  @Env('INQUEST_HTTP_HOST', { description: 'Loopback address to listen on', default: '127.0.0.1' })
  @IsIn(['127.0.0.1', '::1'])
  readonly httpHost!: string;

  @Env('INQUEST_HTTP_PORT', { description: 'Port to listen on; 0 takes a free one', default: '0' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly httpPort!: number;

  @Env('INQUEST_SCENARIO', {
    description: 'Scenario file to play',
    default: path.join(__dirname, '..', 'scenarios', 'quickstart.yaml'),
  })
  @IsString()
  readonly scenario!: string;

  @Env('INQUEST_SCRIPTED_MODEL_KEY', {
    description: 'Bearer key that clients must send; unset accepts any',
    secret: true,
  })
  @IsOptional()
  @IsString()
  readonly key?: string;

  @Env('INQUEST_READY_FILE', { description: 'File that gets {pid, port, url} once the server listens' })
  @IsOptional()
  @IsString()
  readonly readyFile?: string;
}
