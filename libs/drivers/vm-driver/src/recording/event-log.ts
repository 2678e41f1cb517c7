import { open, type FileHandle } from 'node:fs/promises';
import { readLastLine } from './last-line';

/** Bounds of an event log: a guest can make some monitors send events without end. */
export interface EventLogOptions {
  /** Bytes that are written as they come. */
  readonly headBytes: number;
  /** Of the lines after them, how many of the last are kept in memory and written at the end. */
  readonly tailLines: number;
}

/** An event has some 150 bytes. Only a monitor that was taken over sends one of this size. */
const LINE_MAX_BYTES = 16 * 1024;

/**
 * The monitor's events, one raw line each, in order of arrival. Appending never waits and never throws, so that
 * a slow disk cannot hold up the monitor's socket; what could not be kept is said by `lost`.
 */
export class EventLog {
  private readonly tail: string[] = [];
  private headLength = 0;
  private writing: Promise<void> = Promise.resolve();
  private closing: Promise<void> | null = null;
  private isLost = false;

  private constructor(
    private readonly file: FileHandle,
    private readonly options: EventLogOptions,
  ) {}

  /** Makes (or empties) the file, readable by its owner only. Rejects with the system's error; nothing is open then. */
  static async create(path: string, options: EventLogOptions): Promise<EventLog> {
    return new EventLog(await open(path, 'w', 0o600), options);
  }

  /**
   * Goes on with the log of a process that ended without closing it, and says what its last whole line is; null when it
   * has none. A torn line is taken away. Rejects with the system's error; nothing is open then.
   */
  static async resume(
    path: string,
    options: EventLogOptions,
  ): Promise<{ readonly log: EventLog; readonly lastLine: string | null }> {
    const file = await open(path, 'a+', 0o600);
    try {
      const { line, endsAt } = await readLastLine(file, LINE_MAX_BYTES);
      await file.truncate(endsAt);
      const log = new EventLog(file, options);
      log.headLength = endsAt;
      return { log, lastLine: line };
    } catch (e) {
      await file.close();
      throw e;
    }
  }

  /** True when an event is missing from the file, or will be. */
  get lost(): boolean {
    return this.isLost;
  }

  /** Says that the source itself lost events or was interrupted. */
  markLost(): void {
    this.isLost = true;
  }

  /** Keeps one line (without its line end). A line after `close`, or of more than 16 KiB, is lost. */
  append(line: string): void {
    if (this.closing !== null || line.length > LINE_MAX_BYTES) {
      this.isLost = true;
      return;
    }
    const text = `${line}\n`;
    const length = Buffer.byteLength(text);
    if (this.headLength + length <= this.options.headBytes && this.tail.length === 0) {
      this.headLength += length;
      this.write(text);
      return;
    }
    this.tail.push(text);
    if (this.tail.length <= this.options.tailLines) return;
    this.tail.shift();
    this.isLost = true;
  }

  /** Resolves once all lines are in the file. Idempotent; never rejects. */
  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private write(text: string): void {
    this.writing = this.writing
      .then(() => this.file.appendFile(text))
      .catch(() => {
        this.isLost = true;
      });
  }

  private async finish(): Promise<void> {
    if (this.tail.length > 0) this.write(this.tail.join(''));
    await this.writing;
    await this.file.close().catch(() => undefined);
  }
}
