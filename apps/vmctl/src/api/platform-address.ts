import { readFile } from 'node:fs/promises';
import { resolveHome, stackLayout, stackStatus } from '@inquest/stack';
import { cliError } from '../errors';

/** Where the gateway is, and what it is told to accept us. */
export interface PlatformAddress {
  readonly url: string;
  readonly token: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The home of the platform on this host. */
export const homeFrom = (env: Environment): string => resolveHome(env, process.getuid?.() === 0);

/**
 * INQUEST_URL and INQUEST_TOKEN when set, else the platform that runs under this home. Throws `CLI_PLATFORM_DOWN`
 * and `CLI_TOKEN_MISSING`.
 */
export async function findPlatform(env: Environment): Promise<PlatformAddress> {
  const home = homeFrom(env);
  const url = env['INQUEST_URL'] ?? (await localGateway(home));
  const token = env['INQUEST_TOKEN'] ?? (await readToken(stackLayout(home).token));
  return { url: url.replace(/\/+$/, ''), token };
}

async function localGateway(home: string): Promise<string> {
  const { state } = await stackStatus(home);
  if (state?.gatewayUrl) return state.gatewayUrl;
  throw cliError('CLI_PLATFORM_DOWN', `no platform runs under ${home}`, { home });
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (e) {
    throw cliError('CLI_TOKEN_MISSING', `the token file ${file} cannot be read`, { file }, e);
  }
}
