import path from 'node:path';
import { CleanupStack, newId } from '@inquest/kernel';
import { ensureDatabase, startPostgres as startServer } from '@inquest/stack';
import { eventually } from './eventually';
import { tempDir } from './temp-dir';

/** A real Postgres with a cluster of its own, without crash safety, for one test file. Dies with the test process. */
export interface PostgresFixture {
  /** Of the database `inquest`, with its password. */
  readonly url: string;
  readonly port: number;
  /** An empty database of its own, for one test; its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server as a crash would; clients see the connection drop. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data; ends it first when it runs. */
  restart(): Promise<void>;
  /** Ends the server and removes its cluster. */
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresFixture> {
  const cleanup = new CleanupStack();
  const directory = await tempDir('postgres');
  cleanup.defer('the cluster of Postgres', () => directory.remove());
  const start = (port: number) =>
    startServer({
      directory: path.join(directory.path, 'postgres'),
      binariesCopyDirectory: path.join(directory.path, 'postgres-bin'),
      logFile: path.join(directory.path, 'postgres.log'),
      port,
      password: 'test',
      isDurable: false,
      pgBin: process.env['PG_BIN'],
    });
  let server = await start(0).catch(async (e: unknown) => {
    await cleanup.run();
    throw e;
  });
  const { url, port } = server;
  const end = async (graceMs: number): Promise<void> => void (await server.process.stop({ graceMs }));
  cleanup.defer('Postgres', () => end(20_000));
  return {
    url,
    port,
    createDatabase: () => createDatabase(url),
    kill: () => end(0),
    restart: async () => {
      await end(20_000);
      // The backends of a killed server hold its shared memory until they notice; a start before that is refused.
      server = await eventually(() => start(port), { timeoutMs: 60_000 });
    },
    stop: () => cleanup.run(),
  };
}

/** Makes an empty database in the cluster that `url` points into, and gives its URL. */
export async function createDatabase(url: string): Promise<string> {
  const name = newId<string>('test');
  await ensureDatabase(url, name);
  const database = new URL(url);
  database.pathname = `/${name}`;
  return database.href;
}
