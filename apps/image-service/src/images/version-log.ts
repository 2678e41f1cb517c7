import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { ImageLogView } from '@inquest/contracts-image';
import { KeyedQueue, wholeCharacters } from '@inquest/kernel';
import { ToolPaths } from '../recipes/tool-paths';

/** A build that prints for ever must not fill the disk. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** What one answer carries: 128 KiB of NUL, which JSON writes in six characters, still fit into a message of 1 MiB. */
const CHUNK_BYTES = 128 * 1024;

/** The log of each version: its build, its smoke boot. Kept with failed versions, as `VersionMaking` bounds them. */
@Injectable()
export class VersionLog {
  private readonly log = new Logger(VersionLog.name);
  private readonly queue = new KeyedQueue();

  constructor(private readonly tools: ToolPaths) {}

  /**
   * Appends text; beyond `MAX_LOG_BYTES` the rest is left out, and the log says so once. Never rejects: what a build does
   * is not wrong because it cannot be told.
   */
  async append(name: string, version: number, text: string | Uint8Array): Promise<void> {
    const file = this.tools.log(name, version);
    await this.queue
      .run(file, () => appendBounded(file, Buffer.from(text)))
      .catch((e: unknown) => this.log.warn(`the log of ${name}:${version} cannot be written`, e));
  }

  /** Removes the log of a version, of which nothing is left to explain. Never rejects. */
  async remove(name: string, version: number): Promise<void> {
    const file = this.tools.log(name, version);
    await this.queue
      .run(file, () => rm(file, { force: true }))
      .catch((e: unknown) => this.log.warn(`the log of ${name}:${version} cannot be removed`, e));
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
      // A character that is cut, also by a writer that is at work, is left to the next part.
      const part = buffer.subarray(0, wholeCharacters(buffer.subarray(0, bytesRead)));
      return { text: part.toString('utf8'), nextOffset: fromOffset + part.length };
    } finally {
      await file.close();
    }
  }
}

async function appendBounded(logFile: string, text: Uint8Array): Promise<void> {
  await mkdir(path.dirname(logFile), { recursive: true, mode: 0o700 });
  const file = await open(logFile, 'a', 0o600);
  try {
    const { size } = await file.stat();
    if (size > MAX_LOG_BYTES) return;
    const isLast = size + text.length > MAX_LOG_BYTES;
    await file.appendFile(text.subarray(0, MAX_LOG_BYTES - size));
    if (isLast) await file.appendFile(`\n[log cut at ${MAX_LOG_BYTES} bytes]\n`);
  } finally {
    await file.close();
  }
}
