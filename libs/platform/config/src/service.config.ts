import { IsArray, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, MinLength } from 'class-validator';
import { ID_PATTERN } from '@inquest/kernel';
import { Env } from './env.decorator';

/** Least severe first. Each level includes the ones after it. */
export const LOG_LEVELS = ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'] as const;
export type LogLevelName = (typeof LOG_LEVELS)[number];

/** What every service reads from its environment. Services extend it with their own variables. */
export class ServiceConfig {
  /** The program's own name; not read from the environment. */
  @IsString()
  @Matches(ID_PATTERN)
  readonly serviceName!: string;

  @Env('INQUEST_HOME', { description: 'Directory that holds all state', default: '/var/lib/inquest' })
  @Matches(/^\//, { message: 'home must be an absolute path' })
  readonly home!: string;

  @Env('INQUEST_HTTP_HOST', { description: 'Address that the REST API listens on', default: '127.0.0.1' })
  @IsString()
  readonly httpHost!: string;

  @Env('INQUEST_HTTP_PORT', { description: 'Port of the REST API; 0 takes a free one', default: '0' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly httpPort!: number;

  @Env('INQUEST_HTTP_ALLOWED_HOSTS', {
    description: 'Host names, besides those of loopback, under which the REST API may be addressed',
    default: '',
  })
  @IsArray()
  @IsString({ each: true })
  readonly httpAllowedHosts: string[] = [];

  @Env('INQUEST_NATS_URL', {
    description: 'Servers of NATS, comma separated, without credentials',
    default: 'nats://127.0.0.1:4222',
  })
  @Matches(/^(nats|tls):\/\/[^@/,]+(,(nats|tls):\/\/[^@/,]+)*$/, { message: 'natsUrl must be like nats://host:4222' })
  readonly natsUrl!: string;

  @Env('INQUEST_NATS_USER', { description: 'User of this service at NATS' })
  @IsOptional()
  @IsString()
  readonly natsUser?: string;

  @Env('INQUEST_NATS_PASSWORD', { description: 'Password of that user', secret: true })
  @IsOptional()
  @IsString()
  readonly natsPassword?: string;

  @Env('INQUEST_DATABASE_URL', {
    description: 'Postgres database, with credentials',
    default: 'postgres://inquest@127.0.0.1:5432/inquest',
    secret: true,
  })
  @Matches(/^postgres(ql)?:\/\//, { message: 'databaseUrl must be like postgres://user:password@host:5432/name' })
  readonly databaseUrl!: string;

  @Env('INQUEST_TOKEN_SHA256', {
    description: 'SHA-256 (hex) of each bearer token that is accepted, comma separated; none accepts nobody',
    default: '',
  })
  @IsArray()
  @Matches(/^[0-9a-f]{64}$/, { each: true, message: 'each value in tokenSha256 must be 64 lower-case hex characters' })
  readonly tokenSha256: string[] = [];

  @Env('INQUEST_URL_SIGNING_KEY', {
    description: 'Key that signs the short-lived URLs of byte streams; the same for all services',
    secret: true,
  })
  @IsString()
  @MinLength(32)
  readonly urlSigningKey!: string;

  @Env('INQUEST_NODE_ID', { description: 'Name of this host; part of machine ids', default: 'local' })
  @Matches(ID_PATTERN)
  readonly nodeId!: string;

  @Env('INQUEST_READY_FILE', { description: 'File that gets {pid, port, url} once the REST API listens' })
  @IsOptional()
  @IsString()
  readonly readyFile?: string;

  @Env('INQUEST_LOG_LEVEL', {
    description: `Least severe entry that is logged: ${LOG_LEVELS.join(', ')}`,
    default: 'log',
  })
  @IsIn(LOG_LEVELS)
  readonly logLevel!: LogLevelName;
}
