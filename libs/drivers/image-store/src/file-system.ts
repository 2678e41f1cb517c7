import { open, lstat } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { isDomainError } from '@inquest/kernel';
import { imageStoreError } from './errors';

/** The system's code of a failed call (`ENOENT`), or null for any other error. */
export function systemCode(e: unknown): string | null {
  const code = typeof e === 'object' && e !== null && 'code' in e ? e.code : null;
  return typeof code === 'string' && !isDomainError(e) ? code : null;
}

/** Runs file system work and gives its failures the codes of this library: `IMAGE_STORE_FULL`, `IMAGE_STORE_UNAVAILABLE`. */
export async function onFileSystem<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (e) {
    const code = systemCode(e);
    if (code === null) throw e;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw imageStoreError('IMAGE_STORE_FULL', `no space left to ${what}`, { systemCode: code }, e);
    }
    throw imageStoreError('IMAGE_STORE_UNAVAILABLE', `could not ${what}: ${code}`, { systemCode: code }, e);
  }
}

/** The file's own status (of a link, the link's), or null when nothing has that name. */
export async function statusOf(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (e) {
    if (systemCode(e) === 'ENOENT') return null;
    throw e;
  }
}

/** Makes what was written to a file, or the names in a directory, survive a power cut. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
