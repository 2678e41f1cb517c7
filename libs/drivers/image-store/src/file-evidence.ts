import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { abortable } from '@inquest/kernel';
import { imageStoreError } from './errors';
import type { FileRecord } from './version-record';

/** What tells a file from any other without reading it: everything of its record but the digests. */
export type FileIdentity = Omit<FileRecord, 'digest' | 'verityDigest'>;

const CHUNK_BYTES = 1024 * 1024; // larger ones do not hash faster
const PERMISSION_BITS = 0o777n;

export const identityOf = (stats: BigIntStats): FileIdentity => ({
  sizeBytes: Number(stats.size),
  inode: String(stats.ino),
  mtimeNs: String(stats.mtimeNs),
  ctimeNs: String(stats.ctimeNs),
  mode: `0${(stats.mode & PERMISSION_BITS).toString(8).padStart(3, '0')}`,
});

/** In words, how `found` differs from `recorded`: each property with both values; empty when it does not. */
export function differences(recorded: FileIdentity, found: FileIdentity): readonly string[] {
  const properties = ['sizeBytes', 'inode', 'mtimeNs', 'ctimeNs', 'mode'] as const;
  return properties
    .filter((property) => recorded[property] !== found[property])
    .map((property) => `${property} was ${recorded[property]}, is ${found[property]}`);
}

/**
 * Reads a file once, in bounded memory, and gives its identity and digest. Throws `IMAGE_FILE_CHANGED` when it changed
 * while it was read (the digest would be of neither state), `OPERATION_ABORTED` when `signal` aborts. Follows no link.
 */
export async function takeFileRecord(
  path: string,
  signal: AbortSignal,
  onBytes: (count: number) => void,
): Promise<FileRecord> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const before = identityOf(await file.stat({ bigint: true }));
    const digest = await digestOf(file, signal, onBytes);
    const changes = differences(before, identityOf(await file.stat({ bigint: true })));
    if (changes.length > 0) {
      throw imageStoreError('IMAGE_FILE_CHANGED', `${path} changed while it was read: ${changes.join('; ')}`, { path });
    }
    return { digest, ...before };
  } finally {
    await file.close();
  }
}

async function digestOf(file: FileHandle, signal: AbortSignal, onBytes: (count: number) => void): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ;) {
    const { bytesRead } = await abortable(file.read(chunk, 0, CHUNK_BYTES, position), signal, 'hashing');
    if (bytesRead === 0) return `sha256:${hash.digest('hex')}`;
    hash.update(chunk.subarray(0, bytesRead));
    position += bytesRead;
    onBytes(bytesRead);
  }
}
