import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { agentEvents } from '@inquest/contracts-agent';
import { Outbox } from '@inquest/persistence';
import type { TranscriptEntry } from '@inquest/transcript';
import { TranscriptEntryEntity } from './transcript-entry.entity';

/** What the database and the watchers get of a transcript line: a row for querying, and its progress event. */
@Injectable()
export class TranscriptRecords {
  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {}

  /** The number of the last entry that has its row; 0 when none has. Rows are made in order, so all before it have one. */
  async lastSequence(session: string): Promise<number> {
    const rows = this.database.getRepository(TranscriptEntryEntity);
    return (await rows.maximum('sequence', { sessionId: session })) ?? 0;
  }

  /** Makes the row and the event of one entry, both or neither. An entry that has them gets no second ones. */
  record(entry: TranscriptEntry): Promise<void> {
    const { sessionId, runId, sequence, atMs } = entry;
    return this.database.transaction(async (manager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(TranscriptEntryEntity)
        .values(rowOf(entry))
        .orIgnore()
        .returning('sequence')
        .execute();
      if ((inserted.raw as unknown[]).length === 0) return;
      const body = { sessionId, runId, sequence, atMs, entry: { ...entry } };
      await this.outbox.add(manager, agentEvents.progress, [sessionId], body);
    });
  }
}

function rowOf(entry: TranscriptEntry): TranscriptEntryEntity {
  const verb = entry.type === 'verb' ? entry : null;
  return {
    sessionId: entry.sessionId,
    sequence: entry.sequence,
    runId: entry.runId,
    type: entry.type,
    verb: verb?.verb ?? null,
    outcome: verb?.outcome ?? null,
    durationMs: verb === null ? null : Math.round(verb.durationMs),
    at: new Date(entry.atMs),
  };
}
