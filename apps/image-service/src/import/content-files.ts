import { open } from 'node:fs/promises';
import path from 'node:path';
import { onFileSystem } from '@inquest/image-store';
import { oversizedSource } from './formats/source-refusal';

/** The bytes of files out of archives, under names of our own, with one bound on all of them together. */
export class ContentFiles {
  private next = 0;
  private total = 0;

  /** `directory` exists and is ours alone. */
  constructor(
    private readonly directory: string,
    private readonly maxBytes: number,
  ) {}

  get totalBytes(): number {
    return this.total;
  }

  pathOf(content: string): string {
    return path.join(this.directory, content);
  }

  /** Keeps a stream; the name to find it by, and its size. Throws `IMAGE_SOURCE_OVERSIZED`. */
  async keep(bytes: AsyncIterable<Uint8Array>): Promise<{ readonly content: string; readonly sizeBytes: number }> {
    const content = String(this.next++);
    const file = await onFileSystem('unpack an archive', () => open(this.pathOf(content), 'wx', 0o600));
    let sizeBytes = 0;
    try {
      for await (const chunk of bytes) {
        this.total += chunk.length;
        sizeBytes += chunk.length;
        if (this.total > this.maxBytes) throw oversizedSource('what the archive holds', this.maxBytes);
        await onFileSystem('unpack an archive', () => file.write(chunk));
      }
    } finally {
      await file.close();
    }
    return { content, sizeBytes };
  }
}
