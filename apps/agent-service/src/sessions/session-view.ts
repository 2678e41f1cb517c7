import type { SessionView } from '@inquest/contracts-agent';
import type { SessionEntity } from './session.entity';

/** The row as its readers see it. */
export const sessionView = (row: SessionEntity): SessionView => ({
  sessionId: row.sessionId,
  project: row.project,
  chat: row.chat,
  image: row.image,
  mode: row.mode,
  state: row.state,
  reason: row.reason,
  message: row.message,
  machineId: row.machineId,
  currentRunId: row.currentRunId,
  openedAtMs: row.openedAt.getTime(),
  closedAtMs: row.closedAt?.getTime() ?? null,
  verdict: row.verdict,
  publication: row.publication,
  error: row.error,
});
