import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { Env, ServiceConfig } from '@inquest/config';

/** What image-service reads from its environment, besides what every service reads. */
export class ImageServiceConfig extends ServiceConfig {
  @Env('INQUEST_TOOLS_DIRECTORY', {
    description: 'Directory with boot/ (kernel, agent and initramfs builders) and images/ (recipes)',
  })
  @IsOptional()
  @Matches(/^\//, { message: 'toolsDirectory must be an absolute path' })
  readonly toolsDirectory?: string;

  @Env('INQUEST_SMOKE_TIMEOUT_MS', {
    description: 'How long the smoke boot of a version may take, from start to powered off',
    default: '300000',
  })
  @IsInt()
  @Min(1000)
  @Max(3_600_000)
  readonly smokeTimeoutMs!: number;

  @Env('INQUEST_BUILD_TIMEOUT_MS', { description: 'How long one step of a build may take', default: '1800000' })
  @IsInt()
  @Min(1000)
  @Max(86_400_000)
  readonly buildTimeoutMs!: number;
}
