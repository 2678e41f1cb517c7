import { createReadStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { agentError, agentEvents, VERB_NAMES, type TranscriptPage } from '@inquest/contracts-agent';
import { KeyedQueue, parseId, type SessionId } from '@inquest/kernel';
import { Outbox } from '@inquest/persistence';
import {
  createRedactor,
  decodeTranscript,
  encodeEntry,
  takeCensus,
  type EntryBodies,
  type EntryType,
  type Redact,
  type TranscriptEntry,
} from '@inquest/transcript';
import { AgentServiceConfig } from '../agent-service.config';
import { TranscriptEntryEntity } from './transcript-entry.entity';
import { TranscriptFile } from './transcript-file';

/** Room for the entries of one reply; NATS refuses messages over 1 MiB and the envelope needs some of it. */
const PAGE_BYTES = 700 * 1024;

/** Writes and reads transcripts: the file first (durable), then the row and the progress event in one transaction. */
@Injectable()
export class TranscriptsService implements OnApplicationShutdown {
  private readonly files = new Map<SessionId, Promise<TranscriptFile>>();
  // One entry at a time per session: the sequence has no gaps and the file's order is the events' order.
  private readonly queue = new KeyedQueue();
  private readonly redact: Redact;

  constructor(
    private readonly config: AgentServiceConfig,
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    const key = config.modelApiKey;
    this.redact = createRedactor(key ? [{ name: 'model key', value: key }] : []).redact;
  }

  /** Appends one entry. When it resolves, the entry is durable on disk and its progress event will be delivered. */
  append<T extends EntryType>(session: SessionId, runId: string | null, type: T, body: EntryBodies[T]): Promise<void> {
    return this.queue.run(session, () => this.appendNow(session, runId, type, body));
  }

  /** A page of entries, cut to what a message can carry. Throws `SESSION_UNKNOWN` when nothing was ever recorded. */
  async read(session: SessionId, fromSequence: number, limit: number): Promise<TranscriptPage> {
    const { entries, warnings } = await this.decode(session);
    const wanted = entries.filter((entry) => entry.sequence >= fromSequence);
    const page = takePage(wanted, limit);
    const following = wanted[page.length];
    return {
      entries: page as unknown as Record<string, unknown>[],
      nextSequence: following?.sequence ?? null,
      warnings,
    };
  }

  /** The closing count of verbs, taken from the file itself. */
  async appendCensus(session: SessionId): Promise<void> {
    const { entries } = await this.decode(session);
    await this.append(session, null, 'census', takeCensus(entries, VERB_NAMES));
  }

  /**
   * Adds the rows and events of entries that reached the file but, because the service was killed in between, not the
   * database. Called once per unfinished session at start.
   */
  async reconcile(session: SessionId): Promise<void> {
    const { entries } = await this.decode(session).catch(() => ({ entries: [] as TranscriptEntry[] }));
    const rows = this.database.getRepository(TranscriptEntryEntity);
    const recorded = (await rows.maximum('sequence', { sessionId: session })) ?? 0;
    for (const entry of entries.filter(({ sequence }) => sequence > recorded)) await this.recordRow(session, entry);
  }

  /** Closes the file of a session that will get no more entries. */
  async release(session: SessionId): Promise<void> {
    await this.queue.idle(session);
    const file = this.files.get(session);
    this.files.delete(session);
    await (await file)?.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.files.keys()].map((session) => this.release(session)));
  }

  private async appendNow<T extends EntryType>(
    session: SessionId,
    runId: string | null,
    type: T,
    body: EntryBodies[T],
  ): Promise<void> {
    const file = await this.fileOf(session);
    const envelope = { type, sequence: file.nextSequence, atMs: Date.now(), sessionId: session, runId };
    const entry = { ...envelope, ...body } as unknown as TranscriptEntry;
    const line = encodeEntry(entry, this.redact);
    await file.append(line);
    // What is published is what was written: redacted and shortened.
    const [written] = decodeTranscript(line).entries;
    await this.recordRow(session, written ?? entry);
  }

  private recordRow(session: SessionId, entry: TranscriptEntry): Promise<void> {
    return this.database.transaction(async (manager) => {
      const verb = entry.type === 'verb' ? entry : null;
      await manager.insert(TranscriptEntryEntity, {
        sessionId: session,
        sequence: entry.sequence,
        runId: entry.runId,
        type: entry.type,
        verb: verb?.verb ?? null,
        outcome: verb?.outcome ?? null,
        durationMs: verb === null ? null : Math.round(verb.durationMs),
        at: new Date(entry.atMs),
      });
      await this.outbox.add(manager, agentEvents.progress, [session], {
        sessionId: session,
        runId: entry.runId,
        sequence: entry.sequence,
        atMs: entry.atMs,
        entry: entry as unknown as Record<string, unknown>,
      });
    });
  }

  private fileOf(session: SessionId): Promise<TranscriptFile> {
    const known = this.files.get(session);
    if (known) return known;
    const opening = this.openFile(session);
    this.files.set(session, opening);
    // A failed open must not stay in the map: the next entry tries again.
    opening.catch(() => this.files.delete(session));
    return opening;
  }

  private async openFile(session: SessionId): Promise<TranscriptFile> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    return TranscriptFile.open(this.pathOf(session));
  }

  private async decode(session: SessionId): Promise<{ entries: readonly TranscriptEntry[]; warnings: string[] }> {
    const content = await readFile(this.pathOf(session)).catch((e: NodeJS.ErrnoException) => {
      if (e.code !== 'ENOENT') throw e;
      throw agentError('SESSION_UNKNOWN', `session ${session} has no transcript`, { session });
    });
    const { entries, problems } = decodeTranscript(content);
    return { entries, warnings: problems.map(({ line, message }) => `line ${line}: ${message}`) };
  }

  /** The raw JSONL, streamed. */
  stream(session: SessionId): NodeJS.ReadableStream {
    return createReadStream(this.pathOf(session));
  }

  private get directory(): string {
    return path.join(this.config.home, 'transcripts');
  }

  private pathOf(session: SessionId): string {
    return path.join(this.directory, `${parseId<SessionId>(session, 'session')}.jsonl`);
  }
}

function takePage(entries: readonly TranscriptEntry[], limit: number): TranscriptEntry[] {
  const page: TranscriptEntry[] = [];
  let bytes = 0;
  for (const entry of entries.slice(0, limit)) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > PAGE_BYTES && page.length > 0) break;
    page.push(entry);
  }
  return page;
}
