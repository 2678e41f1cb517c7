import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { imageStoreError } from './errors';
import { takeFileRecord } from './file-evidence';
import { onFileSystem, statusOf } from './file-system';
import { missingFile, notInStore } from './version-errors';
import { diskFormatOf, isImageFileName, RECORD_FILE_NAME, type ImageFileName } from './version-files';
import { versionLabel, type VersionId } from './version-id';
import type { FileRecord } from './version-record';

export interface HashProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Throws `IMAGE_VERSION_MISSING`, or `IMAGE_DIRECTORY_UNSAFE` when a link or another kind of file stands in its place. */
export async function checkVersionDirectory(directory: string, id: VersionId): Promise<void> {
  for (const level of [path.dirname(directory), directory]) {
    if (!(await isOwnDirectory(level))) throw notInStore(id);
  }
}

/** True for a directory, false when there is nothing. Throws `IMAGE_DIRECTORY_UNSAFE` for anything else. */
export async function isOwnDirectory(directory: string): Promise<boolean> {
  const status = await onFileSystem(`look at ${directory}`, () => statusOf(directory));
  if (status === null || status.isDirectory()) return status !== null;
  throw imageStoreError('IMAGE_DIRECTORY_UNSAFE', `${directory} is not a directory of its own`, { path: directory });
}

/**
 * The names of a version's files, in a fixed order, after checking that they are a whole version and nothing else.
 * Throws `IMAGE_FILE_UNEXPECTED` or `IMAGE_FILE_MISSING`.
 */
export async function checkedFileNames(directory: string, id: VersionId): Promise<readonly ImageFileName[]> {
  const names = await onFileSystem(`list ${directory}`, () => readdir(directory));
  const files = names.filter((name) => name !== RECORD_FILE_NAME).sort();
  for (const name of files) await checkFile(path.join(directory, name), name, id);
  if (diskFormatOf(files) === null) throw missingFile(id, 'a disk (exactly one of disk.raw and disk.qcow2)');
  const lacking = (['vmlinux', 'initramfs.cpio'] as const).find((name) => !files.includes(name));
  if (lacking !== undefined) throw missingFile(id, lacking);
  return files.filter(isImageFileName);
}

async function checkFile(file: string, name: string, id: VersionId): Promise<void> {
  const status = await onFileSystem(`look at ${file}`, () => statusOf(file));
  const fault = faultOf(name, status);
  if (fault === null) return;
  throw imageStoreError('IMAGE_FILE_UNEXPECTED', `${name} in image ${versionLabel(id)} ${fault}`, {
    name: id.name,
    version: id.version,
    file: name.slice(0, 255),
  });
}

function faultOf(name: string, status: Awaited<ReturnType<typeof statusOf>>): string | null {
  if (!isImageFileName(name)) return 'is not a file that an image has';
  if (status?.isFile() !== true) return 'is not a regular file';
  return status.nlink === 1n ? null : 'has a second name, under which it could be changed';
}

/** The records of files as they are now, read one after the other. Throws what `takeFileRecord` throws. */
export async function takeFileRecords(
  directory: string,
  names: readonly ImageFileName[],
  signal: AbortSignal,
  onProgress: (progress: HashProgress) => void,
): Promise<Readonly<Partial<Record<ImageFileName, FileRecord>>>> {
  const sizes = await Promise.all(names.map(async (name) => (await statusOf(path.join(directory, name)))?.size ?? 0n));
  const totalBytes = Number(sizes.reduce((sum, size) => sum + size, 0n));
  const files: Partial<Record<ImageFileName, FileRecord>> = {};
  let doneBytes = 0;
  for (const name of names) {
    files[name] = await takeFileRecord(path.join(directory, name), signal, (count) => {
      doneBytes += count;
      onProgress({ doneBytes, totalBytes });
    });
  }
  return files;
}
