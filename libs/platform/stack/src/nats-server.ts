import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnOwned, type OwnedProcess } from '@inquest/process';
import { writeFileAtomically } from './durable-file';
import { stackError } from './errors';
import { untilReady } from './readiness';

/** One login of nats-server and the subjects it may use. */
export interface NatsUser {
  readonly user: string;
  readonly password: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export interface NatsServerOptions {
  /** Holds the configuration and the JetStream store; made when missing, kept afterwards. */
  readonly directory: string;
  readonly logFile: string;
  /** 0: a free one, chosen by the server itself. */
  readonly port: number;
  /** Empty: anybody on this host may connect. */
  readonly users?: readonly NatsUser[];
  readonly signal?: AbortSignal;
  /** Called as soon as there is a process, before it is ready. */
  readonly onSpawn?: (process: OwnedProcess) => void;
}

/** A server process and where it listens. */
export interface RunningServer {
  readonly process: OwnedProcess;
  readonly port: number;
  /** For nats: without credentials. */
  readonly url: string;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 10_000;

/**
 * Starts a private nats-server with JetStream on loopback and waits until it listens. It dies with this process.
 * Throws `STACK_NATS_FAILED` or `PROCESS_NOT_FOUND`; nothing runs after a rejection.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<RunningServer> {
  const { directory, logFile } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const configFile = path.join(directory, 'nats-server.conf');
  await writeFileAtomically(configFile, natsConfiguration(options));
  const child = await spawnOwned({ file: 'nats-server', args: ['-c', configFile], logFile });
  options.onSpawn?.(child);
  // The name is the server's choice: <program>_<pid>.ports
  const portsFile = path.join(directory, `nats-server_${child.pid}.ports`);
  try {
    const url = await untilReady({
      child,
      file: portsFile,
      accept: clientUrl,
      timeoutMs: READY_TIMEOUT_MS,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      onFailure: (why, cause) =>
        stackError('STACK_NATS_FAILED', `nats-server does not listen: ${why}; see ${logFile}`, { logFile }, cause),
    });
    return { process: child, url, port: Number(new URL(url).port) };
  } catch (e) {
    await child.stop({ graceMs: STOP_GRACE_MS });
    await rm(portsFile, { force: true });
    throw e;
  }
}

/** nats-server's configuration syntax takes JSON strings, lists and maps as they are. */
function natsConfiguration({ directory, port, users = [] }: NatsServerOptions): string {
  const lines = [
    'server_name: inquest',
    `listen: ${JSON.stringify(`127.0.0.1:${port === 0 ? -1 : port}`)}`,
    `ports_file_dir: ${JSON.stringify(directory)}`,
    `jetstream: ${JSON.stringify({ store_dir: path.join(directory, 'jetstream') })}`,
  ];
  if (users.length > 0) {
    const logins = users.map(({ user, password, publish, subscribe }) => ({
      user,
      password,
      permissions: { publish, subscribe },
    }));
    lines.push(`authorization: ${JSON.stringify({ users: logins })}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The URL in a ports file; null while the server has not finished writing it. */
function clientUrl(text: string | null): string | null {
  try {
    const { nats } = JSON.parse(text ?? '') as { nats?: unknown };
    return Array.isArray(nats) && typeof nats[0] === 'string' ? nats[0] : null;
  } catch {
    return null;
  }
}
