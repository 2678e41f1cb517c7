import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { ByteSource } from './formats/byte-source';

/** Opens a regular file of ours for reading at will and closes it when `work` is done. Follows no link. */
export async function withFileSource<T>(file: string, work: (source: ByteSource) => Promise<T>): Promise<T> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await handle.stat();
    return await work({ sizeBytes: size, read: (offset, length) => readUpTo(handle, offset, length) });
  } finally {
    await handle.close();
  }
}

/** One read may give less than there is. */
async function readUpTo(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
