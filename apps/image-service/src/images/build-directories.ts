import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { delay } from '@inquest/kernel';
import { onFileSystem } from '@inquest/image-store';
import { runCommand } from '@inquest/process';
import { ImageServiceConfig } from '../image-service.config';

/** mmdebstrap, when it is not root, enters its root as another user, who must get to it but sees no names on the way. */
const TRAVERSABLE_MODE = 0o711;
/** A root of a distribution has some ten thousand files. */
const REMOVE_TIMEOUT_MS = 120_000;
const MAX_TRIES = 5;
const RETRY_MS = 200;
const HOME_DIGITS = 12;

/** Begins the path of every build directory of the image-service with this home. */
export function buildDirectoryPrefix(home: string): string {
  const owner = createHash('sha256').update(home).digest('hex').slice(0, HOME_DIGITS);
  return path.join(tmpdir(), `inquest-build-${owner}-`);
}

/**
 * What build programs write besides their result: a directory each, where the host has temporary files. Roots of mmdebstrap
 * are in there, which it leaves behind when it is killed.
 */
@Injectable()
export class BuildDirectories {
  private readonly log = new Logger(BuildDirectories.name);

  constructor(private readonly config: ImageServiceConfig) {}

  /** An empty directory for as long as `work` takes, whose programs have ended when it does; removed however it ends. */
  async use<T>(work: (directory: string) => Promise<T>): Promise<T> {
    const directory = await onFileSystem('make a build directory', () =>
      mkdtemp(buildDirectoryPrefix(this.config.home)),
    );
    try {
      await chmod(directory, TRAVERSABLE_MODE);
      return await work(directory);
    } finally {
      await this.remove(directory);
    }
  }

  /** Removes what an earlier life left behind that was killed, in the background. Called before anything is built. */
  async beginRemovingLeftovers(): Promise<void> {
    const { dir, base } = path.parse(buildDirectoryPrefix(this.config.home));
    const names = await readdir(dir).catch(() => []);
    const leftovers = names.filter((name) => name.startsWith(base)).map((name) => path.join(dir, name));
    if (leftovers.length > 0) this.log.warn(`removing ${leftovers.length} build directories of an earlier life`);
    void Promise.all(leftovers.map((directory) => this.remove(directory)));
  }

  /** Never rejects: it is only space. Killed programs may still be on their way out, and write until then. */
  private async remove(directory: string): Promise<void> {
    let failure: unknown = null;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (tries > 0) await delay(RETRY_MS);
      failure = await removeTree('rm', [], directory);
      if (!(await exists(directory))) return;
      // Without root, the files of a root belong to users that only mmdebstrap can act for.
      await removeTree('mmdebstrap', ['--unshare-helper', 'rm'], directory);
    }
    this.log.error(`the build directory ${directory} could not be removed`, failure);
  }
}

/** Stays on the file system of the directory. Gives the failure; null when there was none. */
function removeTree(program: string, args: readonly string[], directory: string): Promise<unknown> {
  const command = runCommand(program, [...args, '-rf', '--one-file-system', '--', directory], {
    timeoutMs: REMOVE_TIMEOUT_MS,
  });
  return command.then(
    () => null,
    (e: unknown) => e,
  );
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
