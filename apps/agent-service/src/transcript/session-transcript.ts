import { isDeepStrictEqual } from 'node:util';
import {
  decodeTranscript,
  encodeEntry,
  type EntryBodies,
  type EntryType,
  type Redact,
  type TranscriptEntry,
} from '@inquest/transcript';
import { TranscriptFile } from './transcript-file';
import type { TranscriptRecords } from './transcript-records';

/** Entries that wait in memory for the database; beyond these they are read back from the file when it returns. */
const MAX_WAITING = 256;

/** The transcript of one session while it grows. Its methods must be called one at a time. */
export class SessionTranscript {
  /** On disk but not yet in the database, oldest first; null: to be read from the file. */
  private waiting: TranscriptEntry[] | null = null;

  private constructor(
    private readonly session: string,
    private readonly file: TranscriptFile,
    private readonly records: TranscriptRecords,
    private readonly redact: Redact,
  ) {}

  static async open(
    session: string,
    path: string,
    records: TranscriptRecords,
    redact: Redact,
  ): Promise<SessionTranscript> {
    return new SessionTranscript(session, await TranscriptFile.open(path), records, redact);
  }

  /** Writes one entry; durable when it resolves. What is in the file is redacted and shortened. */
  async append<T extends EntryType>(runId: string | null, type: T, body: EntryBodies[T], atMs: number): Promise<void> {
    const line = this.encode({ type, sequence: this.file.nextSequence, atMs, sessionId: this.session, runId, ...body });
    await this.file.append(line);
    this.waiting?.push(...decodeTranscript(line).entries);
    if (this.waiting !== null && this.waiting.length > MAX_WAITING) this.waiting = null;
  }

  /** True when an entry of the session as a whole says just this. */
  async says<T extends EntryType>(type: T, body: EntryBodies[T]): Promise<boolean> {
    for await (const entry of this.file.entries()) {
      if (entry.type !== type || entry.runId !== null) continue;
      const { sequence, atMs, sessionId, runId } = entry;
      const [wanted] = decodeTranscript(this.encode({ ...body, type, sequence, atMs, sessionId, runId })).entries;
      if (isDeepStrictEqual(wanted, entry)) return true;
    }
    return false;
  }

  /** Brings rows and events up to the last line. Throws what the database throws; may be repeated. */
  async catchUp(): Promise<void> {
    if (this.waiting === null) await this.recordFromFile();
    this.waiting ??= [];
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      await this.records.record(next);
      this.waiting.shift();
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async recordFromFile(): Promise<void> {
    const recorded = await this.records.lastSequence(this.session);
    if (recorded + 1 >= this.file.nextSequence) return;
    for await (const entry of this.file.entries()) {
      if (entry.sequence > recorded) await this.records.record(entry);
    }
  }

  private encode(entry: object): Uint8Array {
    return encodeEntry(entry as TranscriptEntry, this.redact);
  }
}
