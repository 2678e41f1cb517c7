import { open } from 'node:fs/promises';
import { TranscriptDecoder, type TranscriptEntry, type TranscriptSummary } from '@inquest/transcript';

const CHUNK_BYTES = 256 * 1024;

/** Reads the transcript of one session from disk, from the start, a piece at a time. A missing file is an empty one. */
export class TranscriptReader {
  private readonly decoder = new TranscriptDecoder();
  private isAtEnd = false;

  constructor(private readonly location: string) {}

  /** The entries in the order of the file; to be iterated once. The reader may stop at any of them. */
  async *entries(): AsyncGenerator<TranscriptEntry, void, undefined> {
    const file = await open(this.location).catch(missingAsNull);
    try {
      const buffer = Buffer.alloc(file === null ? 0 : CHUNK_BYTES);
      for (let count = await read(); count > 0; count = await read()) {
        yield* this.decoder.push(buffer.subarray(0, count));
      }
      this.isAtEnd = true;

      async function read(): Promise<number> {
        return file === null ? 0 : (await file.read(buffer, 0, buffer.length)).bytesRead;
      }
    } finally {
      await file?.close();
    }
  }

  /** What was found besides the entries in what was read. */
  summary(): TranscriptSummary {
    return this.isAtEnd ? this.decoder.end() : this.decoder.soFar();
  }
}

function missingAsNull(e: NodeJS.ErrnoException): null {
  if (e.code === 'ENOENT') return null;
  throw e;
}
