import { appendFile, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { ImageLogView } from '@inquest/contracts-image';
import { KeyedQueue } from '@inquest/kernel';
import { ToolPaths } from '../recipes/tool-paths';

/** A build that prints for ever must not fill the disk. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** What one answer carries of a log. */
const CHUNK_BYTES = 256 * 1024;

/** The log of each version: its build, its smoke boot. Kept with failed versions. */
@Injectable()
export class VersionLog {
  private readonly log = new Logger(VersionLog.name);
  private readonly queue = new KeyedQueue();
  private readonly written = new Map<string, number>();

  constructor(private readonly tools: ToolPaths) {}

  /** Appends text; beyond `MAX_LOG_BYTES` the rest is left out, and the log says so once. */
  append(name: string, version: number, text: string | Uint8Array): Promise<void> {
    const file = this.tools.log(name, version);
    return this.queue.run(file, () => this.appendNow(file, text));
  }

  /** `append` for callers that cannot wait; a failure is logged. */
  write(name: string, version: number, text: Uint8Array): void {
    this.append(name, version, text).catch((e: unknown) =>
      this.log.warn(`the log of ${name}:${version} cannot be written`, e),
    );
  }

  private async appendNow(file: string, text: string | Uint8Array): Promise<void> {
    const before = this.written.get(file) ?? 0;
    if (before > MAX_LOG_BYTES) return;
    const after = before + text.length;
    this.written.set(file, after);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, after > MAX_LOG_BYTES ? `\n[log cut at ${MAX_LOG_BYTES} bytes]\n` : text);
  }

  /** A part of the log from a byte offset on; empty, with the same offset, when there is no more yet. */
  async read(name: string, version: number, fromOffset: number): Promise<ImageLogView> {
    const file = await open(this.tools.log(name, version), 'r').catch((e: NodeJS.ErrnoException) => {
      if (e.code === 'ENOENT') return null;
      throw e;
    });
    if (file === null) return { text: '', nextOffset: fromOffset };
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, fromOffset);
      return { text: buffer.toString('utf8', 0, bytesRead), nextOffset: fromOffset + bytesRead };
    } finally {
      await file.close();
    }
  }
}
