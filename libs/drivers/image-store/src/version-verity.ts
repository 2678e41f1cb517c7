import path from 'node:path';
import type { FsVerity } from './fs-verity';
import { digestMismatch } from './version-errors';
import type { ImageFileName } from './version-files';
import { recordedFiles, type FileRecord, type VersionRecord } from './version-record';

/** What a record says where every file has fs-verity. */
export const VERITY_ENABLED = 'enabled';

/** Turns fs-verity on for the files of a version: `enabled`, or `not available: ` and why. All of them or not recorded. */
export async function enableVerity(
  verity: FsVerity,
  directory: string,
  names: readonly ImageFileName[],
  signal: AbortSignal,
): Promise<string> {
  for (const name of names) {
    const why = await verity.enable(path.join(directory, name), signal);
    if (why !== null) return `not available: ${why}`;
  }
  return VERITY_ENABLED;
}

/** File records with the kernel's own digest of each file. */
export async function withVerity(
  verity: FsVerity,
  directory: string,
  files: VersionRecord['files'],
  signal: AbortSignal,
): Promise<VersionRecord['files']> {
  const measured: Partial<Record<ImageFileName, FileRecord>> = {};
  for (const [name, record] of recordedFiles({ files })) {
    measured[name] = { ...record, verityDigest: await verity.measure(path.join(directory, name), signal) };
  }
  return measured;
}

/** Throws `IMAGE_DIGEST_MISMATCH` or `IMAGE_FILE_CHANGED` for a file whose record says that it has fs-verity. */
export async function checkVerity(
  verity: FsVerity,
  directory: string,
  record: VersionRecord,
  name: ImageFileName,
  signal: AbortSignal,
): Promise<void> {
  const recorded = record.files[name]?.verityDigest;
  if (recorded == null) return;
  const found = await verity.measure(path.join(directory, name), signal);
  if (found !== recorded) throw digestMismatch(record, name, recorded, found);
}
