import { IsInt, IsOptional, IsUrl, Matches, Max, Min } from 'class-validator';
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

  @Env('INQUEST_IMPORT_DIRECTORY', {
    description:
      'The one directory of this host from which images may be imported by path; imports/ below home when unset',
  })
  @IsOptional()
  @Matches(/^\//, { message: 'importDirectory must be an absolute path' })
  readonly importDirectory?: string;

  @Env('INQUEST_IMAGE_MAX_BYTES', {
    description: 'Largest source of an import, and largest disk that is made of one',
    default: '34359738368',
  })
  @IsInt()
  @Min(16 * 1024 * 1024)
  @Max(Number.MAX_SAFE_INTEGER)
  readonly imageMaxBytes!: number;

  @Env('INQUEST_VERIFY_INTERVAL_MS', {
    description: 'Every byte of a frozen version is read again when that was so long ago; 0 only on demand',
    default: '86400000',
  })
  @IsInt()
  @Min(0)
  @Max(31_536_000_000)
  readonly verifyIntervalMs!: number;

  @Env('INQUEST_TEMPLATE_INTERVAL_MS', {
    description: 'How often the templates of frozen versions are looked at and made anew where needed; 0 never',
    default: '60000',
  })
  @IsInt()
  @Min(0)
  @Max(86_400_000)
  readonly templateIntervalMs!: number;

  @Env('INQUEST_ADVERTISED_URL', {
    description: 'Base URL under which the gateway reaches the uploads of this service; its own address when unset',
  })
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  readonly advertisedUrl?: string;
}
