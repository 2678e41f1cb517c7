import { EntryRenderer, type TranscriptEntry } from '@inquest/transcript';
import type { CliContext } from '../context';
import { followSession } from './follow-session';
import { showQuestion } from './show-question';

/**
 * Shows each entry of a session as it comes, from the first one, until the session is closed or `lastRun` has ended; what
 * waits for a person, and how to answer it, too. With `--json` only that is shown on the way. Gives all entries.
 */
export async function watchSession(
  context: CliContext,
  sessionId: string,
  lastRun: string | null,
): Promise<readonly TranscriptEntry[]> {
  const { printer } = context;
  const renderer = new EntryRenderer({ color: printer.isColored, width: printer.width, verbose: false });
  const entries: TranscriptEntry[] = [];
  for await (const entry of followSession(context, sessionId)) {
    entries.push(entry);
    if (!printer.json) printer.data(renderer.render(entry).join('\n'));
    if (entry.type === 'confirmation' && entry.state === 'asked') await showQuestion(context, entry);
    if (lastRun !== null && entry.type === 'run_ended' && entry.runId === lastRun) break;
  }
  return entries;
}
