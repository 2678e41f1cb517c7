import type { RunView } from '@inquest/contracts-agent';
import type { RunEntity } from './run.entity';

/** The row as its readers see it. */
export const runView = (row: RunEntity): RunView => ({
  runId: row.runId,
  sessionId: row.sessionId,
  state: row.state,
  prompt: row.prompt,
  summary: row.summary,
  turns: row.turns,
  startedAtMs: row.startedAt.getTime(),
  endedAtMs: row.endedAt?.getTime() ?? null,
  error: row.error,
});
