import path from 'node:path';
import { defaultServices, type ModelEndpoint, type StackDeclaration } from '@inquest/stack';
import type { Environment } from './api/platform-address';

/** `apps/vmctl/dist` is three levels below the top of the checkout. */
const REPOSITORY_ROOT = path.resolve(__dirname, '../../..');

/** Variables whose values are the stack's own to decide, or that are for vmctl alone. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'INQUEST_DATABASE_URL',
  'INQUEST_HOME',
  'INQUEST_HTTP_HOST',
  'INQUEST_HTTP_PORT',
  'INQUEST_MODEL_API_KEY',
  'INQUEST_MODEL_NAME',
  'INQUEST_MODEL_URL',
  'INQUEST_NATS_PASSWORD',
  'INQUEST_NATS_URL',
  'INQUEST_NATS_USER',
  'INQUEST_NODE_ID',
  'INQUEST_READY_FILE',
  'INQUEST_SCENARIO',
  'INQUEST_TOKEN',
  'INQUEST_TOKEN_SHA256',
  'INQUEST_URL',
  'INQUEST_URL_SIGNING_KEY',
]);

/**
 * Everything `vmctl up` starts. The variables that configure a service alone configure it here too: other models, another
 * forge, an import directory, the log level.
 */
export function embeddedStack(env: Environment): StackDeclaration {
  const settings = settingsFrom(env);
  const services = defaultServices({
    repositoryRoot: REPOSITORY_ROOT,
    model: modelFrom(env),
    scenario: env['INQUEST_SCENARIO'] ?? null,
  });
  return {
    services: services.map((service) =>
      service.platform === null ? service : { ...service, env: { ...settings, ...service.env } },
    ),
    nodeId: env['INQUEST_NODE_ID'] ?? 'local',
    pgBin: env['PG_BIN'] ?? null,
  };
}

/** What the person who starts the stack has set for its services. */
function settingsFrom(env: Environment): Readonly<Record<string, string>> {
  const chosen = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[0].startsWith('INQUEST_') && !NOT_PASSED_ON.has(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(chosen);
}

/** Null, and so the scripted model, unless an endpoint is named. */
function modelFrom(env: Environment): ModelEndpoint | null {
  const url = env['INQUEST_MODEL_URL'];
  if (url === undefined || url === '') return null;
  return { url, name: env['INQUEST_MODEL_NAME'] ?? 'default', apiKey: env['INQUEST_MODEL_API_KEY'] ?? '' };
}
