import { constants } from 'node:fs';
import { chmod, copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { onFileSystem } from './file-system';
import type { ImageFileName } from './version-files';

const WRITABLE_MODE = 0o644;

/** A private directory in which the files of one version are made. `ImageStore.place` gives it its name. */
export class Staging {
  constructor(readonly directory: string) {}

  /** Where a file of the version belongs. */
  pathOf(file: ImageFileName): string {
    return path.join(this.directory, file);
  }

  /**
   * A writable copy of `source`; where the file system can, it shares the blocks until one is written. Never a hard
   * link: a second name changes a file's ctime, so every version that shares it would fail its next launch check.
   */
  async addCopy(source: string, file: ImageFileName): Promise<void> {
    await onFileSystem(`copy ${source} into the image store`, async () => {
      await copyFile(source, this.pathOf(file), constants.COPYFILE_FICLONE);
      await chmod(this.pathOf(file), WRITABLE_MODE);
    });
  }

  /** Removes the directory. Safe after `place` and when repeated. */
  async discard(): Promise<void> {
    await onFileSystem('remove a staging directory', () => rm(this.directory, { recursive: true, force: true }));
  }
}
