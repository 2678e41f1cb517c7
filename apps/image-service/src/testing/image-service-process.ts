import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnOwned, type OwnedProcess } from '@inquest/process';
import { eventually } from '@inquest/testing';

const MAIN = path.resolve(__dirname, '../../dist/main.js');
/** Nest and TypeORM on a machine that is five times slower than usual. */
const START_TIMEOUT_MS = 120_000;
/** The service promises to be gone 10 s after SIGTERM. */
const STOP_GRACE_MS = 60_000;

export interface ImageServiceProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  /** For the ready file and the log of the process. */
  readonly directory: string;
  /** Instead of the home directory of the host, an empty file system in memory of this size, which only the process sees. */
  readonly homeBytes: number | null;
}

/** image-service as the process that is deployed, which can be killed in the middle of anything. */
export class ImageServiceProcess {
  private constructor(
    private readonly process: OwnedProcess,
    readonly url: string,
  ) {}

  /** Resolves when it listens. Needs `dist`. */
  static async start({ env, directory, homeBytes }: ImageServiceProcessOptions): Promise<ImageServiceProcess> {
    const readyFile = path.join(directory, 'ready.json');
    const logFile = path.join(directory, 'image-service.log');
    await rm(readyFile, { force: true });
    const [file = '', ...args] = [...(homeBytes === null ? [] : ownHome(homeBytes)), process.execPath, MAIN];
    const child = await spawnOwned({ file, args, env: { ...env, INQUEST_READY_FILE: readyFile }, logFile });
    const ended = child.exited.then(async () => {
      throw new Error(`image-service ended while it started: ${await readFile(logFile, 'utf8')}`);
    });
    ended.catch(() => undefined);
    const ready = eventually(async () => JSON.parse(await readFile(readyFile, 'utf8')) as { url: string }, {
      timeoutMs: START_TIMEOUT_MS,
    });
    const { url } = await Promise.race([ready, ended]);
    return new ImageServiceProcess(child, url);
  }

  /** A path as the process sees it. */
  seen(file: string): string {
    return path.join('/proc', String(this.process.pid), 'root', file);
  }

  /** SIGKILL: it gets no chance to tidy up. Resolves once it is gone. */
  async kill(): Promise<void> {
    process.kill(this.process.pid, 'SIGKILL');
    await this.process.exited;
  }

  async stop(): Promise<void> {
    await this.process.stop({ graceMs: STOP_GRACE_MS });
  }
}

/** Runs what follows with a home of its own, which is gone when it ends. Without root it takes a user namespace as well. */
const ownHome = (sizeBytes: number): string[] => [
  ...['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])],
  ...['sh', '-c', `mkdir -p "$INQUEST_HOME" && mount -t tmpfs -o size=${sizeBytes} tmpfs "$INQUEST_HOME" && exec "$@"`],
  'sh',
];
