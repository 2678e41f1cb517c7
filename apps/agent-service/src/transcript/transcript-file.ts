import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { TranscriptEntry, TranscriptSummary } from '@inquest/transcript';
import { TranscriptReader } from './transcript-reader';

/**
 * The transcript of one session on disk: append-only JSONL, the only record of what was done. A line that `append`
 * acknowledged survives a crash of this process and of the host.
 */
export class TranscriptFile {
  private constructor(
    private readonly location: string,
    private readonly file: FileHandle,
    private sequence: number,
  ) {}

  /** Opens or creates a file (mode 0600). A line torn by an earlier crash was never acknowledged and is cut off. */
  static async open(location: string): Promise<TranscriptFile> {
    const file = await open(location, 'a+', 0o600);
    try {
      const { resumeAtBytes, nextSequence } = await scan(location);
      const { size } = await file.stat();
      if (size > resumeAtBytes) await file.truncate(resumeAtBytes);
      if (size === 0) await syncDirectory(path.dirname(location));
      return new TranscriptFile(location, file, nextSequence);
    } catch (e) {
      await file.close();
      throw e;
    }
  }

  /** The number the next entry must carry. */
  get nextSequence(): number {
    return this.sequence;
  }

  /** Durable when it resolves: written and fsynced. After a failure the file must be closed and opened anew. */
  async append(line: Uint8Array): Promise<void> {
    await this.file.appendFile(line);
    await this.file.datasync();
    this.sequence += 1;
  }

  /** Everything in it, from the start. */
  entries(): AsyncIterable<TranscriptEntry> {
    return new TranscriptReader(this.location).entries();
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

async function scan(location: string): Promise<TranscriptSummary> {
  const reader = new TranscriptReader(location);
  for await (const _entry of reader.entries());
  return reader.summary();
}

/** A new file survives a crash of the host only once its directory does. */
async function syncDirectory(location: string): Promise<void> {
  const directory = await open(location, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
