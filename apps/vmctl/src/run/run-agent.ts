import { RunView, SessionView } from '@inquest/contracts-agent';
import { DomainError, errorFromBody } from '@inquest/kernel';
import { EntryRenderer, type TranscriptEntry } from '@inquest/transcript';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import { awaitSession } from './await-session';
import { followSession } from './follow-session';

export interface AgentRunRequest {
  readonly prompt: string;
  readonly project: string;
  readonly image: string;
  /** Leaves the session and its machine open when the run has ended. */
  readonly keepOpen: boolean;
}

export interface AgentRunResult {
  readonly run: RunView;
  readonly session: SessionView;
  /** Everything that was recorded, in order. */
  readonly entries: readonly TranscriptEntry[];
}

/** Opens a session, lets the model work, shows each entry as it comes. Throws why the session could not be opened. */
export async function runAgent(context: CliContext, request: AgentRunRequest): Promise<AgentRunResult> {
  const { gateway, printer } = context;
  const { project, image, prompt, keepOpen } = request;
  const { sessionId } = await gateway.call(SessionView, 'POST', '/v1/sessions', { body: { project, image } });
  printer.note(`session ${sessionId}: starting a machine on ${image}`);
  const opened = await awaitSession(context, sessionId, ['ready', 'closed', 'failed']);
  if (opened.state !== 'ready') throw notOpened(opened);
  const { runId } = await gateway.call(RunView, 'POST', `/v1/sessions/${sessionId}/runs`, {
    body: { prompt, closeWhenDone: !keepOpen },
  });
  const entries = await watch(context, sessionId, keepOpen ? runId : null);
  const run = await gateway.call(RunView, 'GET', `/v1/runs/${runId}`);
  const session = keepOpen
    ? await gateway.call(SessionView, 'GET', `/v1/sessions/${sessionId}`)
    : await awaitSession(context, sessionId, ['closed', 'failed']);
  return { run, session, entries };
}

/** Until the session is closed, or until `lastRun` has ended. With `--json` nothing is shown on the way. */
async function watch(context: CliContext, sessionId: string, lastRun: string | null): Promise<readonly TranscriptEntry[]> {
  const { printer } = context;
  const renderer = new EntryRenderer({ color: printer.isColored, width: printer.width, verbose: false });
  const entries: TranscriptEntry[] = [];
  for await (const entry of followSession(context, sessionId)) {
    entries.push(entry);
    if (!printer.json) printer.data(renderer.render(entry).join('\n'));
    if (lastRun !== null && entry.type === 'run_ended' && entry.runId === lastRun) break;
  }
  return entries;
}

const notOpened = (session: SessionView): DomainError =>
  errorFromBody(session.error) ??
  cliError('CLI_ANSWER_INVALID', `session ${session.sessionId} is ${session.state}: ${session.message}`);
