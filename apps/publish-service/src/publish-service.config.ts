import { IsIn, IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { Env, ServiceConfig } from '@inquest/config';

export const FORGES = ['bare', 'none'] as const;

/** What publish-service reads from its environment, besides what every service reads. */
export class PublishServiceConfig extends ServiceConfig {
  @Env('INQUEST_FORGE', {
    description: 'bare publishes to bare repositories on disk; none keeps the work on the host',
    default: 'bare',
  })
  @IsIn(FORGES)
  readonly forge!: (typeof FORGES)[number];

  @Env('INQUEST_COMMITTER_NAME', { description: 'Committer of every commit', default: 'Inquest' })
  @IsString()
  readonly committerName!: string;

  @Env('INQUEST_COMMITTER_EMAIL', { description: 'Address of the committer', default: 'inquest@inquest.invalid' })
  @Matches(/^[^\s<>@]+@[^\s<>@]+$/)
  readonly committerEmail!: string;

  @Env('INQUEST_MAX_FILE_BYTES', {
    description: 'Larger files are held back and reported, bytes',
    default: '52428800',
  })
  @IsInt()
  @Min(1024)
  @Max(10_737_418_240)
  readonly maxFileBytes!: number;
}
