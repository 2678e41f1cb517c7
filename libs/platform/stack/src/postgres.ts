import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import { hasCode } from '@inquest/kernel';
import { runCommand, spawnOwned, type OwnedProcess, type ProcessUser } from '@inquest/process';
import { findFileText } from './durable-file';
import { stackError } from './errors';
import { freePort } from './free-port';
import type { RunningServer } from './nats-server';
import { getPostgresBinaries } from './postgres-binaries';
import { untilReady } from './readiness';
import { findBarrier, unprivilegedUser } from './unprivileged-user';

export interface PostgresOptions {
  /** Holds the cluster; made when missing, kept afterwards. The unprivileged user must be able to enter its parent. */
  readonly directory: string;
  /** Where the npm package's programs are copied when they are not readable in place. */
  readonly binariesCopyDirectory: string;
  readonly logFile: string;
  /** 0: a free one. */
  readonly port: number;
  readonly password: string;
  /** False gives up crash safety for speed: only for clusters that are thrown away. */
  readonly isDurable: boolean;
  /** The value of PG_BIN: a directory with initdb and postgres. */
  readonly pgBin: string | undefined;
  readonly signal?: AbortSignal;
  /** Called as soon as there is a process, before it is ready; again for each further attempt. */
  readonly onSpawn?: (process: OwnedProcess) => void;
}

/** Owner of every database of the embedded cluster. */
const OWNER = 'inquest';
const INITDB_TIMEOUT_MS = 120_000;
const READY_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 20_000;
/** Somebody may take a free port between choosing it and listening on it. */
const PORT_ATTEMPTS = 3;

/**
 * Starts a private Postgres on loopback, making its cluster first when there is none, and waits until it accepts
 * connections. `url` has the password and names the database `inquest`, which exists. As root it runs under an
 * unprivileged user. It dies with this process. Nothing runs after a rejection; throws `STACK_POSTGRES_MISSING`,
 * `STACK_POSTGRES_FAILED`, `STACK_HOME_UNREACHABLE`.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningServer> {
  const user = await unprivilegedUser();
  await mkdir(options.directory, { recursive: true, mode: 0o711 });
  if (user !== null) await refuseBarrier(options.directory, user);
  const dataDirectory = path.join(options.directory, 'data');
  const madeBy = await findFileText(path.join(dataDirectory, 'PG_VERSION'));
  const binaries = await getPostgresBinaries({
    pgBin: options.pgBin,
    copyDirectory: options.binariesCopyDirectory,
    user,
    majorVersion: madeBy === null ? null : Number(madeBy),
  });
  if (madeBy === null) await makeCluster(options, { binDirectory: binaries.directory, dataDirectory, user });
  const server = await startOnSomePort(options, { binDirectory: binaries.directory, dataDirectory, user });
  try {
    await ensureDatabase(server.url, OWNER);
    return server;
  } catch (e) {
    await server.process.stop({ graceMs: STOP_GRACE_MS });
    throw e;
  }
}

interface Cluster {
  readonly binDirectory: string;
  readonly dataDirectory: string;
  readonly user: ProcessUser | null;
}

/** Makes `name` in the cluster that `url` points into, unless it exists. */
export async function ensureDatabase(url: string, name: string): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const client = new Client({ connectionString: maintenance.href, connectionTimeoutMillis: READY_TIMEOUT_MS });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

async function refuseBarrier(directory: string, user: ProcessUser): Promise<void> {
  const barrier = await findBarrier(directory, user);
  if (barrier === null) return;
  const message = `Postgres runs as uid ${user.uid}, which may not enter ${barrier} on the way to ${directory}`;
  throw stackError('STACK_HOME_UNREACHABLE', message, { barrier, uid: user.uid });
}

/** Built aside and renamed into place, so that a crash in between leaves no half cluster. */
async function makeCluster(options: PostgresOptions, { binDirectory, dataDirectory, user }: Cluster): Promise<void> {
  const staging = path.join(options.directory, 'staging');
  const passwordFile = path.join(staging, 'password');
  const stagedData = path.join(staging, 'data');
  await rm(staging, { recursive: true, force: true });
  await mkdir(stagedData, { recursive: true, mode: 0o711 });
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  if (user !== null) for (const entry of [passwordFile, stagedData]) await chown(entry, user.uid, user.gid);
  const args = ['-D', stagedData, '-U', OWNER, '-A', 'scram-sha-256', '--pwfile', passwordFile];
  args.push('-E', 'UTF8', '--locale=C.UTF-8', ...(options.isDurable ? [] : ['--no-sync']));
  await runCommand(path.join(binDirectory, 'initdb'), args, {
    timeoutMs: INITDB_TIMEOUT_MS,
    // The invoking user's directory may be closed to the unprivileged one.
    cwd: '/',
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(user === null ? {} : { user }),
  });
  await rename(stagedData, dataDirectory);
  await rm(staging, { recursive: true, force: true });
}

async function startOnSomePort(options: PostgresOptions, cluster: Cluster): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port === 0 ? await freePort() : options.port;
    try {
      return await startOnPort(options, cluster, port);
    } catch (e) {
      const mayRetry = options.port === 0 && attempt < PORT_ATTEMPTS && hasCode(e, 'STACK_POSTGRES_FAILED');
      if (!mayRetry || options.signal?.aborted) throw e;
    }
  }
}

async function startOnPort(options: PostgresOptions, cluster: Cluster, port: number): Promise<RunningServer> {
  const { logFile } = options;
  const child = await spawnOwned({
    file: path.join(cluster.binDirectory, 'postgres'),
    args: ['-D', cluster.dataDirectory, '-p', String(port), ...settings(options.isDurable)],
    logFile,
    cwd: '/',
    // SIGINT is "fast shutdown": SIGTERM would wait for every client to disconnect.
    stopSignal: 'SIGINT',
    parentDeathSignal: 'SIGINT',
    ...(cluster.user === null ? {} : { user: cluster.user }),
  });
  options.onSpawn?.(child);
  try {
    await untilReady({
      child,
      file: path.join(cluster.dataDirectory, 'postmaster.pid'),
      accept: (text) => (isReady(text, child.pid) ? true : null),
      timeoutMs: READY_TIMEOUT_MS,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      onFailure: (why, cause) =>
        stackError(
          'STACK_POSTGRES_FAILED',
          `Postgres does not accept connections: ${why}; see ${logFile}`,
          { logFile, port },
          cause,
        ),
    });
  } catch (e) {
    await child.stop({ graceMs: STOP_GRACE_MS });
    throw e;
  }
  const url = `postgres://${OWNER}:${encodeURIComponent(options.password)}@127.0.0.1:${port}/${OWNER}`;
  return { process: child, port, url };
}

function settings(isDurable: boolean): string[] {
  const values: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    // A socket path in a deep home would be longer than the 107 bytes of a Unix address.
    unix_socket_directories: '',
    shared_buffers: '32MB',
    ...(isDurable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** postmaster.pid: line 1 is the pid, line 8 the status (LOCK_FILE_LINE_PM_STATUS in Postgres' miscadmin.h). */
function isReady(text: string | null, pid: number): boolean {
  const lines = (text ?? '').split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}
