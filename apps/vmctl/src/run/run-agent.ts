import { RunView, SessionView, type ConfirmationPolicy } from '@inquest/contracts-agent';
import { DomainError, errorFromBody } from '@inquest/kernel';
import type { TranscriptEntry } from '@inquest/transcript';
import type { SessionShape } from '../commands/session-shape';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import { awaitSession } from './await-session';
import { watchSession } from './watch-session';

export interface AgentRunRequest {
  readonly prompt: string;
  readonly project: string;
  /** What its session gets. */
  readonly shape: SessionShape;
  /** What a person must approve of; null: nothing. */
  readonly confirm: ConfirmationPolicy | null;
  /** Leaves the session and its machine open when the run has ended. */
  readonly keepOpen: boolean;
}

export interface AgentRunResult {
  readonly run: RunView;
  readonly session: SessionView;
  /** Everything that was recorded, in order. */
  readonly entries: readonly TranscriptEntry[];
}

/** How long the platform has to accept that a session is to open, and that it is to close. */
const OPEN_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 20_000;

/**
 * Opens a session, lets the model work, shows each entry as it comes. Throws why the session could not be opened. When
 * it is interrupted the session is closed: its run is cancelled, its machine ended.
 */
export async function runAgent(context: CliContext, request: AgentRunRequest): Promise<AgentRunResult> {
  const { gateway, printer } = context;
  const { project, shape, confirm } = request;
  const body = { project, ...shape, confirm };
  // Not cut short by an interruption: a session whose id we do not know could not be closed.
  const signal = AbortSignal.timeout(OPEN_TIMEOUT_MS);
  const { sessionId } = await gateway.call(SessionView, 'POST', '/v1/sessions', { body, signal });
  printer.note(`session ${sessionId}: starting a machine on ${shape.image}`);
  try {
    return await runInSession(context, sessionId, request);
  } catch (e) {
    if (context.signal.aborted) await closeAfterInterruption(context, sessionId);
    throw e;
  }
}

async function runInSession(
  context: CliContext,
  sessionId: string,
  { prompt, keepOpen }: AgentRunRequest,
): Promise<AgentRunResult> {
  const { gateway } = context;
  const opened = await awaitSession(context, sessionId, ['ready', 'closed', 'failed']);
  if (opened.state !== 'ready') throw notOpened(opened);
  const { runId } = await gateway.call(RunView, 'POST', `/v1/sessions/${sessionId}/runs`, {
    body: { prompt, closeWhenDone: !keepOpen },
  });
  const entries = await watchSession(context, sessionId, keepOpen ? runId : null);
  const session = keepOpen
    ? await gateway.call(SessionView, 'GET', `/v1/sessions/${sessionId}`)
    : await awaitSession(context, sessionId, ['closed', 'failed']);
  return { run: await gateway.call(RunView, 'GET', `/v1/runs/${runId}`), session, entries };
}

async function closeAfterInterruption({ gateway, printer }: CliContext, sessionId: string): Promise<void> {
  printer.note(`vmctl: closing session ${sessionId}; \`vmctl log ${sessionId}\` shows what it did`);
  const signal = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
  try {
    await gateway.call(SessionView, 'POST', `/v1/sessions/${sessionId}/close`, { body: {}, signal });
  } catch (e) {
    printer.error(e);
    printer.note(`  It may still be open: vmctl close ${sessionId}`);
  }
}

const notOpened = (session: SessionView): DomainError =>
  errorFromBody(session.error) ??
  cliError('CLI_ANSWER_INVALID', `session ${session.sessionId} is ${session.state}: ${session.message}`);
