import { open, readFile, type FileHandle } from 'node:fs/promises';
import { decodeTranscript } from '@inquest/transcript';

/**
 * The transcript of one session on disk: append-only JSONL, the only record of what was done. A line that `append`
 * acknowledged survives a crash of this process and of the host.
 */
export class TranscriptFile {
  private constructor(
    private readonly file: FileHandle,
    private sequence: number,
  ) {}

  /** Opens or creates `path` (mode 0600). A line torn by an earlier crash was never acknowledged and is cut off. */
  static async open(path: string): Promise<TranscriptFile> {
    const file = await open(path, 'a+', 0o600);
    try {
      const content = await readFile(path);
      const { resumeAtBytes, nextSequence } = decodeTranscript(content);
      if (content.length > resumeAtBytes) await file.truncate(resumeAtBytes);
      return new TranscriptFile(file, nextSequence);
    } catch (e) {
      await file.close();
      throw e;
    }
  }

  /** The number the next entry must carry. */
  get nextSequence(): number {
    return this.sequence;
  }

  /** Durable when it resolves: written and fsynced. */
  async append(line: Uint8Array): Promise<void> {
    await this.file.appendFile(line);
    await this.file.datasync();
    this.sequence += 1;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
