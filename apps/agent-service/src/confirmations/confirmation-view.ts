import type { ConfirmationView } from '@inquest/contracts-agent';
import type { ConfirmationEntity } from './confirmation.entity';

/** The row as its readers see it. */
export const confirmationView = (row: ConfirmationEntity): ConfirmationView => ({
  confirmationId: row.confirmationId,
  sessionId: row.sessionId,
  project: row.project,
  runId: row.runId,
  callId: row.callId,
  argumentsDigest: row.argumentsDigest,
  verb: row.verb,
  origin: row.origin,
  question: row.question,
  choices: row.choices,
  argumentsText: row.argumentsText,
  argumentsLength: row.argumentsLength,
  state: row.state,
  choice: row.choice,
  reason: row.reason,
  by: row.by,
  askedAtMs: row.askedAt.getTime(),
  expiresAtMs: row.expiresAt.getTime(),
  endedAtMs: row.endedAt?.getTime() ?? null,
});
