import { SessionView, type SessionState } from '@inquest/contracts-agent';
import type { CliContext } from '../context';

/** One long poll for a session's state. */
const WAIT_MS = 20_000;

/** The session once it is in one of `states`. */
export async function awaitSession(
  { gateway, signal }: CliContext,
  sessionId: string,
  states: readonly SessionState[],
): Promise<SessionView> {
  for (;;) {
    const session = await gateway.call(SessionView, 'GET', `/v1/sessions/${encodeURIComponent(sessionId)}/wait`, {
      query: { state: states, waitMs: WAIT_MS },
      signal,
    });
    if (states.includes(session.state)) return session;
    signal.throwIfAborted();
  }
}

export const describeSession = ({ sessionId, state, message, error }: SessionView): string =>
  `${sessionId}  ${state}: ${error?.message ?? message}${error === null ? '' : `\n  ${error.remediation}`}`;
