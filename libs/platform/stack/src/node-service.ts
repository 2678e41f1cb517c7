import { rm } from 'node:fs/promises';
import { spawnOwned, type Environment } from '@inquest/process';
import { stackError } from './errors';
import { untilReady } from './readiness';
import type { ServiceDeclaration } from './service-declaration';
import type { LaunchContext, Launched } from './supervised-service';

export interface NodeServiceOptions {
  readonly service: ServiceDeclaration;
  /** The whole environment beyond the base one. */
  readonly env: Environment;
  readonly logFile: string;
  readonly readyFile: string;
}

/** Nest, TypeORM and a migration on a busy machine: seconds, not minutes; the bound is for a machine five times slower. */
const READY_TIMEOUT_MS = 120_000;
const STOP_GRACE_MS = 15_000;

/**
 * Starts one service and waits for its ready file. It takes the port of its earlier life again, so that its URL stays.
 * Throws `STACK_START_FAILED` naming the log file; no process is left then.
 */
export async function launchNodeService(options: NodeServiceOptions, context: LaunchContext): Promise<Launched> {
  const { service, logFile, readyFile } = options;
  await rm(readyFile, { force: true });
  const child = await spawnOwned({
    file: process.execPath,
    args: [service.entry],
    env: { ...options.env, INQUEST_HTTP_PORT: portOf(context.earlierUrl), INQUEST_READY_FILE: readyFile },
    logFile,
    cwd: '/',
  });
  context.onSpawn(child);
  try {
    const url = await untilReady({
      child,
      file: readyFile,
      accept: (text) => announcedUrl(text, child.pid),
      timeoutMs: READY_TIMEOUT_MS,
      signal: context.signal,
      onFailure: (why, cause) => {
        const message = `${service.name} did not become ready: ${why}; see ${logFile}`;
        return stackError('STACK_START_FAILED', message, { service: service.name, logFile }, cause);
      },
    });
    return { process: child, url };
  } catch (e) {
    await child.stop({ graceMs: STOP_GRACE_MS });
    throw e;
  }
}

/** "0" lets the service choose. */
const portOf = (url: string | null): string => (url === null ? '0' : new URL(url).port || '0');

/** The URL in a ready file of process `pid`; null while there is none, or only that of an earlier life. */
export function announcedUrl(text: string | null, pid: number): string | null {
  try {
    const ready = JSON.parse(text ?? '') as { readonly pid?: unknown; readonly url?: unknown };
    if (ready.pid !== pid || typeof ready.url !== 'string' || !URL.canParse(ready.url)) return null;
    return ready.url.replace(/\/+$/, '');
  } catch {
    return null;
  }
}
