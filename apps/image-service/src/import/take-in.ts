import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { imageError } from '@inquest/contracts-image';
import { isDomainError } from '@inquest/kernel';
import { onFileSystem } from '@inquest/image-store';
import { invalidSource, oversizedSource } from './formats/source-refusal';

export interface TakeInOptions {
  /** `sha256:<hex>` that the bytes must have. */
  readonly digest: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Writes a stream to a new file of ours and checks its digest on the way; zeros become holes. Resolves with the count of
 * bytes. Throws `IMAGE_SOURCE_DIGEST_WRONG`, `IMAGE_SOURCE_OVERSIZED` (as soon as there are too many), and
 * `IMAGE_SOURCE_INVALID` when the stream breaks off; what was written is then of no use, and the caller's to remove.
 */
export async function takeIn(
  source: Readable,
  file: string,
  { digest, maxBytes, signal }: TakeInOptions,
): Promise<number> {
  const hash = createHash('sha256');
  const target = await onFileSystem('make a file for an import', () => open(file, 'wx', 0o600));
  let sizeBytes = 0;
  try {
    // A sender that says nothing any more would otherwise be waited for.
    addAbortSignal(signal, source);
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (sizeBytes + chunk.length > maxBytes) throw oversizedSource('the source', maxBytes);
      hash.update(chunk);
      const position = sizeBytes;
      if (!isAllZero(chunk))
        await onFileSystem('write an import', () => target.write(chunk, 0, chunk.length, position));
      sizeBytes += chunk.length;
    }
    await target.truncate(sizeBytes);
  } catch (e) {
    if (isDomainError(e)) throw e;
    throw invalidSource(`the source broke off after ${sizeBytes} bytes: ${e instanceof Error ? e.message : ''}`, e);
  } finally {
    await target.close();
  }
  requireDigest(`sha256:${hash.digest('hex')}`, digest, 'the source');
  return sizeBytes;
}

/** Throws `IMAGE_SOURCE_DIGEST_WRONG` with both digests unless they are equal. */
export function requireDigest(found: string, declared: string, what: string): void {
  if (found === declared) return;
  const message = `${what} was declared as ${declared} and is ${found}; nothing of it was used`;
  throw imageError('IMAGE_SOURCE_DIGEST_WRONG', message, { declared, found });
}

const isAllZero = (chunk: Buffer): boolean => chunk.equals(ZEROS.subarray(0, chunk.length));

/** A stream's chunk is no longer; a longer one is written as it is. */
const ZEROS = Buffer.alloc(1024 * 1024);
