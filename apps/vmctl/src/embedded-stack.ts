import path from 'node:path';
import { defaultServices, type ModelEndpoint, type StackDeclaration } from '@inquest/stack';
import type { Environment } from './api/platform-address';

/** `apps/vmctl/dist` is three levels below the top of the checkout. */
const REPOSITORY_ROOT = path.resolve(__dirname, '../../..');

/** Everything `vmctl up` starts. The same variables that configure a service point it at real models. */
export const embeddedStack = (env: Environment): StackDeclaration => ({
  services: defaultServices({
    repositoryRoot: REPOSITORY_ROOT,
    model: modelFrom(env),
    scenario: env['INQUEST_SCENARIO'] ?? null,
  }),
  nodeId: env['INQUEST_NODE_ID'] ?? 'local',
  pgBin: env['PG_BIN'] ?? null,
});

/** Null, and so the scripted model, unless an endpoint is named. */
function modelFrom(env: Environment): ModelEndpoint | null {
  const url = env['INQUEST_MODEL_URL'];
  if (url === undefined || url === '') return null;
  return { url, name: env['INQUEST_MODEL_NAME'] ?? 'default', apiKey: env['INQUEST_MODEL_API_KEY'] ?? '' };
}
