import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnOwned, type OwnedProcess } from '@inquest/process';
import { eventually } from '@inquest/testing';

const MAIN = path.resolve(__dirname, '../../dist/main.js');
/** Nest and TypeORM on a machine that is five times slower than usual. */
const START_TIMEOUT_MS = 120_000;

/** publish-service as the process that is deployed, which can be killed in the middle of anything. */
export class PublishProcess {
  private isGone = false;

  private constructor(private readonly process: OwnedProcess) {
    void process.exited.then(() => (this.isGone = true));
  }

  /** Resolves when it listens. `directory` gets its ready file, and its log under `publish-service.log`. Needs `dist`. */
  static async start(directory: string, env: Readonly<Record<string, string>>): Promise<PublishProcess> {
    const readyFile = path.join(directory, 'ready.json');
    const logFile = path.join(directory, 'publish-service.log');
    await rm(readyFile, { force: true });
    const child = await spawnOwned({
      file: process.execPath,
      args: [MAIN],
      env: { ...env, INQUEST_READY_FILE: readyFile },
      logFile,
    });
    const ended = child.exited.then(async () => {
      throw new Error(`publish-service ended while it started: ${await readFile(logFile, 'utf8')}`);
    });
    ended.catch(() => undefined);
    await Promise.race([eventually(() => readFile(readyFile), { timeoutMs: START_TIMEOUT_MS }), ended]);
    return new PublishProcess(child);
  }

  get pid(): number {
    return this.process.pid;
  }

  /** SIGKILL: it gets no chance to tidy up. Resolves once it is gone; may be repeated. */
  async kill(): Promise<void> {
    if (!this.isGone) process.kill(this.pid, 'SIGKILL');
    await this.process.exited;
  }
}
