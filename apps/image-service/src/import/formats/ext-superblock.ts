import { invalidSource, unsafeSource } from './source-refusal';

// Linux, Documentation/filesystems/ext4/super.rst.

const SUPERBLOCK_OFFSET = 1024;
const SUPERBLOCK_BYTES = 1024;
/** How much of a file system tells what it is. */
export const EXT_HEAD_BYTES = SUPERBLOCK_OFFSET + SUPERBLOCK_BYTES;

const MAGIC = 0xef53;
const MAX_LOG_BLOCK_SIZE = 6; // 64 KiB
const COMPAT_HAS_JOURNAL = 0x4;
const INCOMPAT_JOURNAL_DEVICE = 0x8;
const INCOMPAT_64BIT = 0x80;

/** True when `head` is the beginning of an ext2, ext3 or ext4 file system; all of them are mounted as ext4. */
export const isExtFileSystem = (head: Buffer): boolean =>
  head.length >= EXT_HEAD_BYTES && head.readUInt16LE(SUPERBLOCK_OFFSET + 56) === MAGIC;

/**
 * The size of the file system that `head` is the beginning of, in bytes. Throws `IMAGE_SOURCE_INVALID` when it is none, or
 * when it is larger than the `availableBytes` that there are, and `IMAGE_SOURCE_UNSAFE` when its journal is elsewhere.
 */
export function extFileSystemBytes(head: Buffer, availableBytes: number): number {
  if (!isExtFileSystem(head)) throw invalidSource('there is no ext4 file system');
  const field = (offset: number): number => head.readUInt32LE(SUPERBLOCK_OFFSET + offset);
  const incompatible = field(96);
  const hasOtherJournal = (field(92) & COMPAT_HAS_JOURNAL) !== 0 && field(224) === 0;
  if ((incompatible & INCOMPAT_JOURNAL_DEVICE) !== 0 || hasOtherJournal) {
    throw unsafeSource('the journal of the file system is on another device');
  }
  const logBlockSize = field(24);
  if (logBlockSize > MAX_LOG_BLOCK_SIZE) throw invalidSource('the superblock of the file system is damaged');
  const highBlocks = (incompatible & INCOMPAT_64BIT) === 0 ? 0 : field(336);
  const sizeBytes = (highBlocks * 2 ** 32 + field(4)) * 1024 * 2 ** logBlockSize;
  if (sizeBytes > 0 && sizeBytes <= availableBytes) return sizeBytes;
  throw invalidSource(`the file system is cut: it has ${sizeBytes} bytes, and only ${availableBytes} are there`);
}
