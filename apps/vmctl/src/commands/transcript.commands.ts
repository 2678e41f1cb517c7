import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { agentError, SessionList, TranscriptPage } from '@inquest/contracts-agent';
import { entryFrom, renderTranscript, type TranscriptEntry } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { age } from '../output/phrases';
import { examples } from './examples';
import { wholeNumber } from './option-values';

/** Sessions that a name is looked for among. */
const SEARCHED_SESSIONS = 200;

const NO_SESSION = 'there has been no session yet; `vmctl agent run` and `vmctl open` make one';

/** `logs` lists sessions, `log` renders one: the only record of what was done. */
export function addTranscriptCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('logs')
    .option('--limit <count>', 'sessions to list, 1 to 200', wholeNumber, 20)
    .description('list sessions, newest first')
    .action(({ limit }) => logs(context(), limit));
  program
    .command('log')
    .argument('[which]', 'a session, chat or project; the latest session when left out')
    .option('--verbose', 'show outputs and arguments whole')
    .description('show the transcript of a session')
    .addHelpText(
      'after',
      examples(
        ['vmctl log', 'of the latest session'],
        ['vmctl log fizzbuzz --verbose', 'of the latest session of a project'],
      ),
    )
    .action((which, { verbose }) => log(context(), which, verbose === true));
}

async function logs({ gateway, printer }: CliContext, limit: number): Promise<void> {
  const sessions = await gateway.call(SessionList, 'GET', '/v1/sessions', { query: { limit } });
  const now = Date.now();
  printer.list(
    sessions,
    ['SESSION', 'PROJECT', 'MODE', 'STATE', 'AGE', 'MACHINE', 'VERDICT', 'PUBLISHED'],
    sessions.items.map((s) => [
      s.sessionId,
      s.project,
      s.mode,
      s.state,
      age(s.openedAtMs, now),
      s.machineId ?? '-',
      s.verdict?.class ?? '-',
      s.publication === null ? '-' : `${s.publication.state} ${s.publication.commit.slice(0, 10)}`,
    ]),
    NO_SESSION,
  );
}

async function log(context: CliContext, which: string | undefined, verbose: boolean): Promise<void> {
  const { printer } = context;
  const sessionId = await findSession(context, which);
  const { entries, warnings } = await readWhole(context, sessionId);
  printer.result({ sessionId, entries, warnings }, () =>
    renderTranscript(entries, { color: printer.isColored, width: printer.width, verbose }),
  );
  if (!printer.json) for (const warning of warnings) printer.note(`! ${warning}`);
}

/** The id of the newest session that is, or belongs to, what was named. Throws `SESSION_UNKNOWN` when there is none at all. */
export async function findSession({ gateway }: CliContext, which: string | undefined): Promise<string> {
  const { items } = await gateway.call(SessionList, 'GET', '/v1/sessions', { query: { limit: SEARCHED_SESSIONS } });
  const found = items.find((s) => which === undefined || [s.sessionId, s.chat, s.project].includes(which));
  if (found) return found.sessionId;
  // An old session may be beyond the list; the platform knows it by its id.
  if (which !== undefined) return which;
  throw agentError('SESSION_UNKNOWN', NO_SESSION);
}

async function readWhole(
  { gateway }: CliContext,
  sessionId: string,
): Promise<{ entries: TranscriptEntry[]; warnings: string[] }> {
  const entries: TranscriptEntry[] = [];
  const warnings = new Set<string>();
  for (let fromSequence: number | null = 1; fromSequence !== null;) {
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}/transcript`;
    const page: TranscriptPage = await gateway.call(TranscriptPage, 'GET', path, {
      query: { fromSequence, limit: 500 },
    });
    for (const raw of page.entries) {
      const entry = entryFrom(raw);
      if (typeof entry !== 'string') entries.push(entry);
    }
    for (const warning of page.warnings) warnings.add(warning);
    fromSequence = page.nextSequence;
  }
  return { entries, warnings: [...warnings] };
}
