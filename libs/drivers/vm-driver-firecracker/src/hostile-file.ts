import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * The last bytes of a file in a directory that a monitor can write: neither a link to what is not its own, nor a pipe
 * that never ends, nor a file without end is followed to where it leads. Empty when there is no such file; never rejects.
 */
export async function readTail(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (handle === null) return Buffer.alloc(0);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return Buffer.alloc(0);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(maxBytes),
      position: Math.max(0, stat.size - maxBytes),
    });
    return buffer.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  } finally {
    await handle.close().catch(() => undefined);
  }
}
