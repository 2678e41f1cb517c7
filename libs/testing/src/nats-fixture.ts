import path from 'node:path';
import { CleanupStack } from '@inquest/kernel';
import { startNatsServer, type NatsUser } from '@inquest/stack';
import { tempDir } from './temp-dir';

/** A real nats-server with JetStream, on a free port, for one test file. Dies with the test process. */
export interface NatsFixture {
  readonly url: string;
  readonly port: number;
  /** Ends the server as a crash would; clients see the connection drop. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same JetStream store; ends it first when it runs. */
  restart(): Promise<void>;
  /** Ends the server and removes its store. */
  stop(): Promise<void>;
}

export async function startNats(options: { readonly users?: readonly NatsUser[] } = {}): Promise<NatsFixture> {
  const cleanup = new CleanupStack();
  const directory = await tempDir('nats');
  cleanup.defer('the store of nats-server', () => directory.remove());
  const start = (port: number) =>
    startNatsServer({
      directory: path.join(directory.path, 'nats'),
      logFile: path.join(directory.path, 'nats-server.log'),
      port,
      users: options.users ?? [],
    });
  let server = await start(0).catch(async (e: unknown) => {
    await cleanup.run();
    throw e;
  });
  const { url, port } = server;
  const end = async (graceMs: number): Promise<void> => void (await server.process.stop({ graceMs }));
  cleanup.defer('nats-server', () => end(10_000));
  return {
    url,
    port,
    kill: () => end(0),
    restart: async () => {
      await end(10_000);
      server = await start(port);
    },
    stop: () => cleanup.run(),
  };
}
