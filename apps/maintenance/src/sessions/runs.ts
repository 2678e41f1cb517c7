import type { RunOutcome, TranscriptEntry } from '@inquest/transcript';

/** One run as the transcript tells it. */
export interface RecordedRun {
  readonly runId: string;
  readonly prompt: string;
  readonly startedAtMs: number;
  /** Null while it is at work. */
  readonly outcome: RunOutcome | null;
  readonly summary: string;
  readonly endedAtMs: number | null;
}

/** The runs of a session, in order. */
export function runsOf(entries: readonly TranscriptEntry[]): RecordedRun[] {
  const runs = new Map<string, RecordedRun>();
  for (const entry of entries) {
    if (entry.runId === null) continue;
    if (entry.type === 'run_started') {
      const { runId, prompt, atMs: startedAtMs } = entry;
      runs.set(runId, { runId, prompt, startedAtMs, outcome: null, summary: '', endedAtMs: null });
    }
    const run = runs.get(entry.runId);
    if (entry.type === 'run_ended' && run !== undefined) {
      const { outcome, summary, atMs: endedAtMs } = entry;
      runs.set(entry.runId, { ...run, outcome, summary, endedAtMs });
    }
  }
  return [...runs.values()];
}
