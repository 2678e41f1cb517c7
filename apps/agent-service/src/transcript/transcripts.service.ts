import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { VERB_NAMES, type TranscriptPage } from '@inquest/contracts-agent';
import { KeyedQueue, parseId, type SessionId } from '@inquest/kernel';
import { takeCensus, type Census, type EntryBodies, type EntryType, type TranscriptEntry } from '@inquest/transcript';
import { AgentServiceConfig } from '../agent-service.config';
import { Redaction } from './redaction';
import { SessionTranscript } from './session-transcript';
import { TranscriptReader } from './transcript-reader';
import { TranscriptRecords } from './transcript-records';

/** Room for the entries of one reply; NATS refuses messages over 1 MiB and the envelope needs some of it. */
const PAGE_BYTES = 700 * 1024;

/** Writes and reads transcripts: the file first (durable), then the row and the progress event in one transaction. */
@Injectable()
export class TranscriptsService implements OnApplicationShutdown {
  private readonly log = new Logger(TranscriptsService.name);
  private readonly opened = new Map<SessionId, SessionTranscript>();
  // One entry at a time per session: the sequence has no gaps and the file's order is the events' order.
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly config: AgentServiceConfig,
    private readonly records: TranscriptRecords,
    private readonly redaction: Redaction,
  ) {}

  /**
   * Appends one entry. When it resolves, the entry is durable on disk; its row and progress event exist too, or, while
   * the database is away, come with the next entry, the next `catchUp` or the next start.
   */
  append<T extends EntryType>(session: SessionId, runId: string | null, type: T, body: EntryBodies[T]): Promise<void> {
    return this.queue.run(session, () => this.appendNow(session, runId, type, body));
  }

  /** Appends an entry of the session as a whole unless the transcript already says it: for steps that are repeated. */
  appendOnce<T extends EntryType>(session: SessionId, type: T, body: EntryBodies[T]): Promise<void> {
    return this.queue.run(session, async () => {
      const transcript = await this.transcriptOf(session);
      if (!(await transcript.says(type, body))) await this.appendNow(session, null, type, body);
    });
  }

  /** The closing count of verbs. May be repeated. */
  async appendCensus(session: SessionId): Promise<void> {
    await this.appendOnce(session, 'census', await this.census(session));
  }

  /** The count of verbs so far, taken from the file itself. */
  async census(session: SessionId): Promise<Census> {
    const counted: TranscriptEntry[] = [];
    for await (const entry of this.entries(session)) {
      // Only what is counted, without its texts: a session may have said more than should be in memory at once.
      if (entry.type === 'verb') counted.push({ ...entry, arguments: null, summary: '' });
      if (entry.type === 'model_turn') counted.push({ ...entry, text: '' });
    }
    return takeCensus(counted, VERB_NAMES);
  }

  /** Adds the rows and events of entries that reached only the file. Throws what the database throws. */
  catchUp(session: SessionId): Promise<void> {
    return this.queue.run(session, async () => (await this.transcriptOf(session)).catchUp());
  }

  /**
   * A page of entries, cut to what a message can carry; an empty one while nothing was recorded. Warnings are of the
   * transcript up to the end of the page.
   */
  async read(session: SessionId, fromSequence: number, limit: number): Promise<TranscriptPage> {
    const reader = new TranscriptReader(this.pathOf(session));
    const entries: TranscriptEntry[] = [];
    let nextSequence: number | null = null;
    let bytes = 0;
    for await (const entry of reader.entries()) {
      if (entry.sequence < fromSequence) continue;
      bytes += Buffer.byteLength(JSON.stringify(entry));
      if (entries.length === limit || (bytes > PAGE_BYTES && entries.length > 0)) {
        nextSequence = entry.sequence;
        break;
      }
      entries.push(entry);
    }
    const warnings = reader.summary().problems.map(({ line, message }) => `line ${line}: ${message}`);
    return { entries: entries.map((entry) => ({ ...entry })), nextSequence, warnings };
  }

  /** All entries so far, read while they are iterated. */
  entries(session: SessionId): AsyncIterable<TranscriptEntry> {
    return new TranscriptReader(this.pathOf(session)).entries();
  }

  /** The raw JSONL, to be streamed; empty while nothing was recorded. */
  async stream(session: SessionId): Promise<Readable> {
    const file = await open(this.pathOf(session)).catch(missingAsNull);
    return file === null ? Readable.from([]) : file.createReadStream();
  }

  /** Closes the file of a session that will get no more entries. */
  release(session: SessionId): Promise<void> {
    return this.queue.run(session, () => this.closeNow(session));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.opened.keys()].map((session) => this.release(session)));
  }

  private async appendNow<T extends EntryType>(
    session: SessionId,
    runId: string | null,
    type: T,
    body: EntryBodies[T],
  ): Promise<void> {
    const transcript = await this.transcriptOf(session);
    try {
      await transcript.append(runId, type, body, Date.now());
    } catch (e) {
      // Opening it again cuts off what may have been written of the line.
      await this.closeNow(session);
      throw e;
    }
    await transcript.catchUp().catch((e: unknown) => {
      this.log.warn(`entries of session ${session} wait for the database`, e);
    });
  }

  private async transcriptOf(session: SessionId): Promise<SessionTranscript> {
    const known = this.opened.get(session);
    if (known !== undefined) return known;
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const transcript = await SessionTranscript.open(session, this.pathOf(session), this.records, this.redaction.redact);
    this.opened.set(session, transcript);
    return transcript;
  }

  private async closeNow(session: SessionId): Promise<void> {
    const transcript = this.opened.get(session);
    this.opened.delete(session);
    await transcript?.close();
  }

  private get directory(): string {
    return path.join(this.config.home, 'transcripts');
  }

  private pathOf(session: SessionId): string {
    return path.join(this.directory, `${parseId<SessionId>(session, 'session')}.jsonl`);
  }
}

function missingAsNull(e: NodeJS.ErrnoException): null {
  if (e.code === 'ENOENT') return null;
  throw e;
}
