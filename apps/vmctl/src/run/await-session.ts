import { SessionView, type SessionState } from '@inquest/contracts-agent';
import type { CliContext } from '../context';
import { longPoll, WAIT_MS } from './long-poll';

/** The session once it is in one of `states`. Throws what the platform answers. */
export function awaitSession(
  context: CliContext,
  sessionId: string,
  states: readonly SessionState[],
): Promise<SessionView> {
  return longPoll(
    context,
    SessionView,
    `/v1/sessions/${encodeURIComponent(sessionId)}/wait`,
    () => ({ state: states, waitMs: WAIT_MS }),
    ({ state }) => states.includes(state),
  );
}

/** A session for people: its state, why, and what to do about a failure. */
export function describeSession({ sessionId, state, reason, message, error }: SessionView): string {
  if (error !== null) return `${sessionId}  ${state}: ${error.message}\n  ${error.remediation}`;
  return `${sessionId}  ${state}: ${state === 'closed' ? reason : message}`;
}
