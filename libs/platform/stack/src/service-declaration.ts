import path from 'node:path';
import { ID_PATTERN, kernelError } from '@inquest/kernel';
import type { Environment } from '@inquest/process';

/** One Node.js program that the supervisor keeps running. It must write its ready file once it listens. */
export interface ServiceDeclaration {
  readonly name: string;
  /** Absolute path of its main file. */
  readonly entry: string;
  /** Added to what the supervisor gives every service. */
  readonly env: Environment;
  /** Variables that hold the URL of another service, known once that one runs. Implies `after`. */
  readonly urlEnv: Readonly<Record<string, ServiceUrl>>;
  /** Services that must be ready first; each stands earlier in the list. */
  readonly after: readonly string[];
  /** Null: it gets no database, no NATS login and no secret. */
  readonly platform: PlatformAccess | null;
}

/** The URL of a service with `path` appended. */
export interface ServiceUrl {
  readonly of: string;
  readonly path: string;
}

/** What a service may do on NATS: answer the commands and publish the events of its own scope. */
export interface PlatformAccess {
  /** The scope token of its subjects; null for one that only calls others. */
  readonly scope: 'image' | 'vm' | 'agent' | 'publish' | null;
}

/** Everything the supervisor is asked to run. Travels over its standard input, because it may hold a model key. */
export interface StackDeclaration {
  readonly services: readonly ServiceDeclaration[];
  /** Name of this host in machine ids. */
  readonly nodeId: string;
  /** The value of PG_BIN, or null. */
  readonly pgBin: string | null;
}

/** A chat-completions endpoint and the model to ask there. */
export interface ModelEndpoint {
  readonly url: string;
  readonly name: string;
  readonly apiKey: string;
}

export interface DefaultServicesOptions {
  /** Root of the built repository. */
  readonly repositoryRoot: string;
  /** Null: the scripted model plays `scenario`. */
  readonly model: ModelEndpoint | null;
  /** Path of a scenario file; null: the scripted model's own default. */
  readonly scenario: string | null;
}

/** Names under which the embedded NATS and Postgres appear beside the declared services. */
export const NATS_NAME = 'nats-server';
export const POSTGRES_NAME = 'postgres';
export const GATEWAY_NAME = 'gateway';
const SCRIPTED_MODEL_NAME = 'scripted-model';

/** The services of the embedded default, in starting order. */
export function defaultServices(options: DefaultServicesOptions): ServiceDeclaration[] {
  const service = (name: string, fields: Partial<ServiceDeclaration>): ServiceDeclaration => ({
    name,
    entry: path.join(options.repositoryRoot, 'apps', name, 'dist', 'main.js'),
    env: {},
    urlEnv: {},
    after: [],
    platform: null,
    ...fields,
  });
  const scenarioEnv: Environment = options.scenario === null ? {} : { INQUEST_SCENARIO: options.scenario };
  return [
    ...(options.model === null ? [service(SCRIPTED_MODEL_NAME, { env: scenarioEnv })] : []),
    service('image-service', { platform: { scope: 'image' } }),
    service('vm-service', { platform: { scope: 'vm' } }),
    service('publish-service', { platform: { scope: 'publish' } }),
    service('agent-service', { platform: { scope: 'agent' }, ...modelAccess(options.model) }),
    service(GATEWAY_NAME, {
      platform: { scope: null },
      after: ['image-service', 'vm-service', 'publish-service', 'agent-service'],
    }),
  ];
}

function modelAccess(model: ModelEndpoint | null): Pick<ServiceDeclaration, 'env' | 'urlEnv'> {
  if (model === null) {
    return {
      // No key: the scripted model wants none, and one that is an ordinary word would be redacted wherever it occurs.
      env: { INQUEST_MODEL_NAME: 'scripted' },
      urlEnv: { INQUEST_MODEL_URL: { of: SCRIPTED_MODEL_NAME, path: '/v1' } },
    };
  }
  const env = { INQUEST_MODEL_URL: model.url, INQUEST_MODEL_NAME: model.name, INQUEST_MODEL_API_KEY: model.apiKey };
  return { env, urlEnv: {} };
}

/** All services that must be ready before this one. */
export function dependenciesOf(service: ServiceDeclaration): string[] {
  const platform = service.platform === null ? [] : [NATS_NAME, POSTGRES_NAME];
  return [...new Set([...platform, ...service.after, ...Object.values(service.urlEnv).map(({ of }) => of)])];
}

/**
 * How far each service is from the ones that need nothing: 0 for those, one more than its deepest dependency for the
 * others. Throws `ID_INVALID` and `INPUT_INVALID` for a bad or doubled name and for one that does not stand earlier.
 */
export function startLevels(services: readonly ServiceDeclaration[]): ReadonlyMap<string, number> {
  const levels = new Map([
    [NATS_NAME, 0],
    [POSTGRES_NAME, 0],
  ]);
  for (const service of services) {
    if (!ID_PATTERN.test(service.name) || levels.has(service.name)) {
      throw kernelError('INPUT_INVALID', `service name "${service.name}" is not a valid id, or is taken`, {});
    }
    const below = dependenciesOf(service).map((name) => levels.get(name) ?? missing(service.name, name));
    levels.set(service.name, below.length === 0 ? 0 : Math.max(...below) + 1);
  }
  return levels;
}

function missing(service: string, dependency: string): never {
  throw kernelError('INPUT_INVALID', `${service} needs ${dependency}, which is not declared before it`, { service });
}
