import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '@inquest/kernel';
import { onFileSystem } from '@inquest/image-store';

/** An empty private directory below `root` for as long as `work` takes; removed with all that is in it. */
export async function withWorkDirectory<T>(root: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = path.join(root, newId<string>('work'));
  await onFileSystem('make a work directory', () => mkdir(directory, { recursive: true, mode: 0o700 }));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
