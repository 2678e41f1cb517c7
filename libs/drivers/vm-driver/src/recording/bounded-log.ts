import { open, rename, writeFile, type FileHandle } from 'node:fs/promises';
import { HeadTailBuffer } from '@inquest/kernel';

/** Most that `recent` can give. */
export const RECENT_MAX_BYTES = 64 * 1024;

/** Where a bounded log is kept and how much of it. */
export interface BoundedLogOptions {
  readonly headPath: string;
  readonly tailPath: string;
  readonly headBytes: number;
  readonly tailBytes: number;
}

/**
 * A log on disk of a stream that may never end: the first `headBytes` go to `headPath` as they come; of what follows,
 * the last `tailBytes` are in `tailPath` after `close`, and a version at most `tailBytes` old before. Without an
 * overflow there is no tail file. Memory is bounded by `2 * tailBytes + 128 KiB`.
 */
export class BoundedLog {
  private readonly tail: HeadTailBuffer;
  private readonly latest = new HeadTailBuffer(0, RECENT_MAX_BYTES);
  private headLength = 0;
  private unwrittenBytes = 0;
  /** Of a resumed log: what came before `latest` sees anything, and what of it is in no file. */
  private earlierBytes = 0;
  private skippedBytes = 0;
  private tailBytesAtPersist = 0;
  private closing: Promise<void> | null = null;

  private constructor(
    private readonly head: FileHandle,
    private readonly options: BoundedLogOptions,
  ) {
    this.tail = new HeadTailBuffer(0, options.tailBytes);
  }

  /** Makes (or empties) the head file, readable by its owner only. Rejects with the system's error; nothing is open then. */
  static async create(options: BoundedLogOptions): Promise<BoundedLog> {
    return new BoundedLog(await open(options.headPath, 'w', 0o600), options);
  }

  /**
   * Goes on with the log of a process that ended without closing it. Of the stream, which has had `streamBytes` until
   * now, the part from `totalBytes` on has to be appended again. Rejects with the system's error; nothing is open then.
   */
  static async resume(options: BoundedLogOptions, streamBytes: number): Promise<BoundedLog> {
    const head = await open(options.headPath, 'a+', 0o600);
    try {
      const log = new BoundedLog(head, options);
      await log.goOnAt(streamBytes);
      return log;
    } catch (e) {
      await head.close();
      throw e;
    }
  }

  /** Bytes that came in all. */
  get totalBytes(): number {
    return this.earlierBytes + this.latest.totalBytes;
  }

  /** Bytes that are in neither file: they fell between head and tail, or the disk refused them. */
  get droppedBytes(): number {
    return this.skippedBytes + this.unwrittenBytes + this.tail.droppedBytes;
  }

  /** The last bytes, at most `maxBytes` and at most `RECENT_MAX_BYTES`. */
  recent(maxBytes: number): Uint8Array {
    const { tail } = this.latest.read();
    return tail.subarray(Math.max(0, tail.length - Math.max(0, maxBytes)));
  }

  /**
   * Keeps a chunk. Callers wait for one append before the next, which slows the source down to the disk's speed.
   * Never rejects: bytes that the disk refuses are counted as dropped.
   */
  async append(chunk: Uint8Array): Promise<void> {
    this.latest.write(chunk);
    const toHead = chunk.subarray(0, Math.max(0, this.options.headBytes - this.headLength));
    if (toHead.length > 0) await this.appendToHead(toHead);
    const rest = chunk.subarray(toHead.length);
    if (rest.length === 0) return;
    this.tail.write(rest);
    if (this.tail.totalBytes - this.tailBytesAtPersist >= this.options.tailBytes) await this.persistTail();
  }

  /** Completes both files. Idempotent; never rejects. Not to be called during an `append`. */
  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async goOnAt(streamBytes: number): Promise<void> {
    const { headBytes, tailBytes } = this.options;
    const { size } = await this.head.stat();
    // Only another stream's log could be longer than the stream.
    this.headLength = Math.min(size, headBytes, streamBytes);
    if (size > this.headLength) await this.head.truncate(this.headLength);
    const isHeadFull = this.headLength === headBytes;
    this.skippedBytes = isHeadFull ? Math.max(0, streamBytes - headBytes - tailBytes) : 0;
    const known = this.skippedBytes > 0 ? 0 : Math.min(this.headLength, RECENT_MAX_BYTES);
    const { buffer } = await this.head.read(Buffer.alloc(known), 0, known, this.headLength - known);
    this.latest.write(buffer);
    this.earlierBytes = this.headLength - known + this.skippedBytes;
  }

  private async appendToHead(bytes: Uint8Array): Promise<void> {
    this.headLength += bytes.length;
    try {
      await this.head.appendFile(bytes);
    } catch {
      this.unwrittenBytes += bytes.length;
    }
  }

  /** Says whether the tail file holds the tail now; the version before stays readable when it does not. */
  private async persistTail(): Promise<boolean> {
    const { tail } = this.tail.read();
    this.tailBytesAtPersist = this.tail.totalBytes;
    const partial = `${this.options.tailPath}.partial`;
    try {
      await writeFile(partial, tail, { mode: 0o600 });
      await rename(partial, this.options.tailPath);
      return true;
    } catch {
      return false;
    }
  }

  private async finish(): Promise<void> {
    if (this.tail.totalBytes > 0 && !(await this.persistTail())) this.unwrittenBytes += this.tail.read().tail.length;
    await this.head.close().catch(() => undefined);
  }
}
