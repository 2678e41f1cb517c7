import { createReadStream } from 'node:fs';
import { chmod, open, rename, stat } from 'node:fs/promises';
import { imageError } from '@inquest/contracts-image';
import { onFileSystem } from '@inquest/image-store';
import { hasCode, toDomainError, type DomainError } from '@inquest/kernel';
import { runBounded } from './bounded-tool';
import type { ByteSource } from './formats/byte-source';
import { EXT_HEAD_BYTES, extFileSystemBytes, isExtFileSystem } from './formats/ext-superblock';
import { readPartitions, type Partition } from './formats/partition-table';
import { parseQcow2Header, QCOW2_HEAD_BYTES } from './formats/qcow2-header';
import { checkQcow2Mapping } from './formats/qcow2-mapping';
import { invalidSource } from './formats/source-refusal';
import { withFileSource } from './file-source';

export interface ConversionOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** e2fsck: nothing to do, or everything repaired. A journal that was not closed is replayed, as a boot would do. */
const E2FSCK_GOOD = [0, 1];

/**
 * Turns a qcow2 file of ours into a raw one. The file is looked at here before any tool opens it. Throws what
 * `parseQcow2Header` and `checkQcow2Mapping` throw, and `IMAGE_SOURCE_INVALID` when qemu-img cannot read it.
 */
export async function convertQcow2(source: string, target: string, options: ConversionOptions): Promise<void> {
  const { maxBytes, signal } = options;
  await withFileSource(source, async (file) => {
    const head = await file.read(0, QCOW2_HEAD_BYTES);
    await checkQcow2Mapping(file, parseQcow2Header(head, maxBytes), signal);
  });
  await onTool(signal, unreadable, () =>
    runBounded('qemu-img', ['convert', '-q', '-f', 'qcow2', '-O', 'raw', source, target], {
      maxFileBytes: maxBytes,
      signal,
    }),
  );
}

/**
 * Makes the disk of a version of a raw file of ours, which is used up: a file system by itself, or the one partition that
 * holds one. Throws `IMAGE_SOURCE_INVALID` for anything else, `IMAGE_FILE_SYSTEM_DAMAGED` for one
 * beyond repair.
 */
export async function settleRawDisk(source: string, disk: string, options: ConversionOptions): Promise<void> {
  const partition = await withFileSource(source, rootPartition);
  if (partition === null) await onFileSystem('place a disk', () => rename(source, disk));
  else await copyRange(source, partition, disk, options.signal);
  await settleFileSystem(disk, options.signal);
}

/** The same for a file that must be an ext4 file system by itself. */
export async function settleExtFile(source: string, disk: string, options: ConversionOptions): Promise<void> {
  await withFileSource(source, async (file) => {
    extFileSystemBytes(await file.read(0, EXT_HEAD_BYTES), file.sizeBytes);
  });
  await onFileSystem('place a disk', () => rename(source, disk));
  await settleFileSystem(disk, options.signal);
}

/** Checks an ext4 disk of ours and repairs what can be repaired. Throws `IMAGE_FILE_SYSTEM_DAMAGED`. */
export async function settleFileSystem(disk: string, signal: AbortSignal): Promise<void> {
  await chmod(disk, 0o644);
  const { size } = await stat(disk);
  const limits = { maxFileBytes: size, signal, acceptExitCodes: E2FSCK_GOOD };
  await onTool(signal, damaged, () => runBounded('e2fsck', ['-fy', disk], limits));
}

/** Where the root of a disk is; null when the whole disk is the file system. */
async function rootPartition(disk: ByteSource): Promise<Partition | null> {
  const head = await disk.read(0, EXT_HEAD_BYTES);
  if (isExtFileSystem(head)) {
    extFileSystemBytes(head, disk.sizeBytes);
    return null;
  }
  const partitions = await readPartitions(disk);
  if (partitions === null) throw invalidSource('the disk holds neither an ext4 file system nor a partition table');
  const roots: Partition[] = [];
  for (const partition of partitions) {
    const first = await disk.read(partition.offsetBytes, EXT_HEAD_BYTES);
    if (!isExtFileSystem(first)) continue;
    extFileSystemBytes(first, partition.sizeBytes);
    roots.push(partition);
  }
  const [root] = roots;
  if (root !== undefined && roots.length === 1) return root;
  const found = `${partitions.length} partitions of which ${roots.length} hold an ext4 file system`;
  throw invalidSource(`the disk has ${found}; it must hold exactly one`);
}

async function copyRange(source: string, range: Partition, target: string, signal: AbortSignal): Promise<void> {
  const { offsetBytes, sizeBytes } = range;
  const bytes = createReadStream(source, { start: offsetBytes, end: offsetBytes + sizeBytes - 1, signal });
  const file = await onFileSystem('make a disk', () => open(target, 'wx', 0o644));
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      await onFileSystem('write a disk', () => file.write(chunk));
    }
  } finally {
    await file.close();
  }
}

async function onTool(
  signal: AbortSignal,
  refusal: (why: string, cause: unknown) => DomainError,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (e) {
    signal.throwIfAborted();
    // A tool that is missing is the host's fault, not the source's.
    throw hasCode(e, 'PROCESS_FAILED') ? refusal(toDomainError(e).message, e) : e;
  }
}

const unreadable = (why: string, cause: unknown): DomainError =>
  invalidSource(`qemu-img cannot read the qcow2 file: ${why}`, cause);

const damaged = (why: string, cause: unknown): DomainError =>
  imageError('IMAGE_FILE_SYSTEM_DAMAGED', `the file system is damaged beyond repair: ${why}`, {}, cause);
