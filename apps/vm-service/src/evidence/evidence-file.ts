import { open, readFile, type FileHandle } from 'node:fs/promises';
import { EVIDENCE_CHUNK_BYTES, type EvidenceView } from '@inquest/contracts-vm';
import { wholeCharacters } from '@inquest/kernel';

/** Part of a file, as it travels. */
export type TextPart = Pick<EvidenceView, 'text' | 'nextOffset' | 'sizeBytes'>;

/**
 * At most `EVIDENCE_CHUNK_BYTES` of a file from a byte offset on; empty when it does not exist. A character that is cut
 * by the end of the part is left to the next one, so that parts put together are the text of the whole.
 */
export async function readTextPart(file: string, fromOffset: number): Promise<TextPart> {
  const handle = await openOrNull(file);
  if (handle === null) return { text: '', nextOffset: fromOffset, sizeBytes: 0 };
  try {
    const { size: sizeBytes } = await handle.stat();
    const buffer = Buffer.alloc(EVIDENCE_CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, fromOffset);
    const bytes = buffer.subarray(0, bytesRead);
    const isLast = fromOffset + bytesRead >= sizeBytes;
    const whole = isLast ? bytes : bytes.subarray(0, wholeCharacters(bytes));
    return { text: whole.toString('utf8'), nextOffset: fromOffset + whole.length, sizeBytes };
  } finally {
    await handle.close();
  }
}

/** A file that was never written is no failure: not every incarnation has every kind of evidence. */
export async function readFileOrNull(file: string): Promise<Uint8Array | null> {
  const handle = await openOrNull(file);
  if (handle === null) return null;
  try {
    return await readFile(handle);
  } finally {
    await handle.close();
  }
}

async function openOrNull(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'r');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw e;
  }
}
