import { useEffect, useState } from 'react';
import type { SessionProgress, TranscriptPage } from '@inquest/contracts-agent';
import { entryFrom, type TranscriptEntry } from '@inquest/transcript';
import { followEvents } from './follow-events';
import { toProblem, type Problem } from './problem';
import { callGateway, segment } from './request';

const PAGE_SIZE = 500;

/** How the transcript gets here. `live`: each new entry comes as it is written. */
export type TranscriptState = 'loading' | 'live' | 'interrupted' | 'complete' | 'failed';

export interface Transcript {
  readonly entries: readonly TranscriptEntry[];
  /** Torn or unreadable lines of the record. */
  readonly warnings: readonly string[];
  readonly state: TranscriptState;
  readonly problem: Problem | null;
}

const EMPTY: Transcript = { entries: [], warnings: [], state: 'loading', problem: null };

/** The transcript of a session: what is on disk first, then each entry as it comes, until the session has closed. */
export function useTranscript(sessionId: string): Transcript {
  const [transcript, setTranscript] = useState(EMPTY);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let current = EMPTY;
    const change = (next: Partial<Transcript>): void => {
      if (signal.aborted) return;
      current = { ...current, ...next };
      setTranscript(current);
    };
    change(EMPTY);
    const read = async (): Promise<void> => {
      await readRecorded(sessionId, signal, (entries, warnings) =>
        change({ entries: [...current.entries, ...entries], warnings: [...current.warnings, ...warnings] }),
      );
      if (isClosed(current.entries)) return change({ state: 'complete' });
      const onConnection = (isConnected: boolean): void => change({ state: isConnected ? 'live' : 'interrupted' });
      for await (const entry of followSession(sessionId, { signal, onConnection })) {
        if (entry.sequence <= lastSequence(current.entries)) continue;
        change({ entries: [...current.entries, entry] });
        if (isClosed(current.entries)) return change({ state: 'complete' });
      }
    };
    read().catch((e: unknown) => change({ state: 'failed', problem: toProblem(e) }));
    return () => leaving.abort();
  }, [sessionId]);
  return transcript;
}

const lastSequence = (entries: readonly TranscriptEntry[]): number => entries.at(-1)?.sequence ?? 0;

const isClosed = (entries: readonly TranscriptEntry[]): boolean =>
  entries.some(({ type }) => type === 'session_closed');

async function readRecorded(
  sessionId: string,
  signal: AbortSignal,
  onPage: (entries: readonly TranscriptEntry[], warnings: readonly string[]) => void,
): Promise<void> {
  for (let from: number | null = 1; from !== null;) {
    const page: TranscriptPage = await callGateway(`/v1/sessions/${segment(sessionId)}/transcript`, {
      query: { fromSequence: from, limit: PAGE_SIZE },
      signal,
    });
    onPage(page.entries.flatMap(knownEntry), page.warnings);
    from = page.nextSequence;
  }
}

async function* followSession(
  sessionId: string,
  options: Parameters<typeof followEvents>[1],
): AsyncGenerator<TranscriptEntry> {
  for await (const { data } of followEvents(`/v1/sessions/${segment(sessionId)}/events`, options)) {
    yield* knownEntry((JSON.parse(data) as SessionProgress).entry);
  }
}

/** None for an entry of a newer platform, which this page cannot show. */
function knownEntry(value: unknown): TranscriptEntry[] {
  const entry = entryFrom(value);
  return typeof entry === 'string' ? [] : [entry];
}
