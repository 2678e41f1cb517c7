import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { KeyedQueue, withDeadline } from '@inquest/kernel';
import type { EgressRecord } from '@inquest/egress-proxy';

/** Name of the file in the evidence directory of an incarnation. No verdict rests on it. */
export const EGRESS_FILE = 'egress.jsonl';

/** What the file may grow to. A guest that asks in a loop must not fill the disk. */
const MAX_LINES = 20_000;
/** Lines that wait for the disk. */
const MAX_PENDING = 256;
/** One line on a slow disk. */
const WRITE_TIMEOUT_MS = 5_000;

/** A line that stands for those that were left out. */
interface LeftOut {
  readonly atMs: number;
  readonly leftOut: number;
}

/** `egress.jsonl` of one incarnation: one record per line, in order. Lines that were left out are counted in it. */
export class EgressLog {
  private readonly log = new Logger(EgressLog.name);
  private readonly writes = new KeyedQueue();
  private lines = 0;
  private pending = 0;
  private leftOut = 0;
  private closing: Promise<void> | null = null;

  constructor(private readonly directory: string) {}

  /** Resolves when the line is written, or left out: too many, or a disk that does not take it. Never rejects. */
  async record(record: EgressRecord): Promise<void> {
    if (this.lines >= MAX_LINES || this.pending >= MAX_PENDING) {
      this.leftOut++;
      return;
    }
    this.lines++;
    await this.append(record);
  }

  /** Says how many lines were left out, if any were; nothing is recorded afterwards. Idempotent, never rejects. */
  close(): Promise<void> {
    this.closing ??= this.sayLeftOut();
    return this.closing;
  }

  private async sayLeftOut(): Promise<void> {
    const { leftOut } = this;
    this.lines = MAX_LINES;
    if (leftOut > 0) await this.append({ atMs: Date.now(), leftOut });
  }

  private async append(line: EgressRecord | LeftOut): Promise<void> {
    this.pending++;
    const written = this.writes.run(EGRESS_FILE, async () => {
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
      await appendFile(path.join(this.directory, EGRESS_FILE), `${JSON.stringify(line)}\n`);
    });
    try {
      await withDeadline(written, WRITE_TIMEOUT_MS, `writing ${EGRESS_FILE}`);
    } catch (e) {
      if (this.leftOut++ === 0) this.log.error(`${EGRESS_FILE} in ${this.directory} cannot be written`, e);
    } finally {
      this.pending--;
    }
  }
}
