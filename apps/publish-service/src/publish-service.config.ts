import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { Env, ServiceConfig } from '@inquest/config';
import { BRANCH_POLICIES, type BranchPolicy } from '@inquest/git-forge';

export const FORGES = ['bare', 'gitea', 'none'] as const;

/** What publish-service reads from its environment, besides what every service reads. */
export class PublishServiceConfig extends ServiceConfig {
  @Env('INQUEST_FORGE', {
    description:
      'bare publishes to bare repositories on disk, gitea to a Gitea server; none keeps the work on the host',
    default: 'bare',
  })
  @IsIn(FORGES)
  readonly forge!: (typeof FORGES)[number];

  @Env('INQUEST_BRANCH_POLICY', {
    description:
      'session publishes each session to a branch of its own, to be merged, and begins empty projects with an empty commit; default publishes to the branch that it was made on',
    default: 'default',
  })
  @IsIn(BRANCH_POLICIES)
  readonly branchPolicy!: BranchPolicy;

  @Env('INQUEST_FORGE_TOPICS', {
    description: 'Topics that repositories get on a forge that has them, comma separated',
    default: 'inquest',
  })
  @IsArray()
  @ArrayMaxSize(25)
  @Matches(/^[a-z0-9][a-z0-9-]{0,34}$/, {
    each: true,
    message: 'each of topics must be 1 to 35 lower-case letters, digits and dashes, not beginning with a dash',
  })
  readonly topics: string[] = [];

  @Env('INQUEST_PUBLISH_RETRY_SECONDS', {
    description: 'Wait before a publication that failed for a while is tried again, doubled each time up to an hour',
    default: '30',
  })
  @IsInt()
  @Min(1)
  @Max(3600)
  readonly retrySeconds!: number;

  @Env('INQUEST_GITEA_URL', { description: 'Base URL of Gitea, with its sub-path, without credentials' })
  @IsOptional()
  @IsString()
  readonly giteaUrl?: string;

  @Env('INQUEST_GITEA_OWNER', { description: 'User or organization at Gitea that owns the repositories' })
  @IsOptional()
  // Names of users at Gitea, which become part of URLs.
  @Matches(/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/)
  readonly giteaOwner?: string;

  @Env('INQUEST_GITEA_TOKEN_FILE', {
    description: 'File of mode 0600 with a token of Gitea (write:repository and write:user or write:organization)',
  })
  @IsOptional()
  @Matches(/^\//, { message: 'giteaTokenFile must be an absolute path' })
  readonly giteaTokenFile?: string;

  @Env('INQUEST_GITEA_ALLOW_HTTP', {
    description: 'Lets the token travel over http to another host, where the network can read it',
    default: 'false',
  })
  @IsBoolean()
  readonly giteaAllowHttp!: boolean;

  @Env('INQUEST_GITEA_PRIVATE', { description: 'Whether repositories that are made are private', default: 'true' })
  @IsBoolean()
  readonly giteaPrivate!: boolean;

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
