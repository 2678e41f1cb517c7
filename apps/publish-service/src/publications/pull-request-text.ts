import { MAX_LISTED_PATHS, type HeldView, type SessionCensus, type SessionReport } from '@inquest/contracts-publish';
import { cutText, type ErrorView } from '@inquest/contracts-base';
import { printable, printableLine } from '@inquest/transcript';

/** Of forges that keep titles in a column of this length; a longer one is refused. */
const MAX_TITLE_LENGTH = 255;
/** Together, with four blanks before each line, well below the 65 536 characters that a forge takes. */
const BLOCK_BOUNDS = {
  summary: { characters: 16_000, lines: 300 },
  account: { characters: 1_000, lines: 5 },
  census: { characters: 6_000, lines: 110 },
  held: { characters: 24_000, lines: 2 * MAX_LISTED_PATHS },
} as const;

/** What a pull request is made of. Every text in it may be a guest's or a model's. */
export interface PullRequestFacts {
  readonly publicationId: string;
  readonly sessionId: string;
  readonly project: string;
  readonly commit: string;
  readonly title: string;
  readonly report: SessionReport | null;
  readonly heldCount: number;
  readonly held: readonly HeldView[];
  /** Why the project's own scratch rules had no part in that; null: they had, or there are none. */
  readonly rulesProblem: ErrorView | null;
}

/** One line that every forge takes for a title. */
export function pullRequestTitle({ title, sessionId, project }: PullRequestFacts): string {
  const line = printableLine(title);
  return cutText(line === '' ? `Inquest session ${sessionId} on ${project}` : line, MAX_TITLE_LENGTH);
}

/** The text by which the pull request of a publication is known; no other publication's has it. */
export const pullRequestMarker = ({ publicationId }: Pick<PullRequestFacts, 'publicationId'>): string =>
  `publication \`${publicationId}\``;

/**
 * Markdown for whoever reviews: what the session says that it did, how its machine ended, what it did by count, and what
 * was held back. Foreign texts stand in indented code blocks only: nothing in them can end one, and a forge makes no
 * link, mention, image or HTML of what stands there. At most 65 536 characters.
 */
export function pullRequestBody(facts: PullRequestFacts): string {
  const { sessionId, commit, report } = facts;
  return [
    `Made by Inquest session \`${sessionId}\` in a virtual machine; commit \`${commit}\`, ${pullRequestMarker(facts)}.`,
    '## Summary',
    report === null || report.summary.trim() === ''
      ? 'The session left no summary.'
      : codeBlock(report.summary, BLOCK_BOUNDS.summary),
    '## Verdict',
    ...verdictParts(report),
    '## Census',
    report?.census == null ? 'Nothing was counted.' : codeBlock(censusLines(report.census), BLOCK_BOUNDS.census),
    '## Held back',
    ...heldParts(facts),
    ...rulesParts(facts),
  ].join('\n\n');
}

/** The text as a block whose every line begins with four blanks, which Markdown shows as it is. */
function codeBlock(
  text: string,
  { characters, lines }: { readonly characters: number; readonly lines: number },
): string {
  const shown = cutText(
    printable(text)
      .replace(/^\s*\n/, '')
      .trimEnd(),
    characters,
  ).split('\n');
  const kept = shown.length > lines ? [...shown.slice(0, lines), '…'] : shown;
  return kept.map((line) => `    ${line}`).join('\n');
}

function verdictParts(report: SessionReport | null): readonly string[] {
  if (report?.verdict == null) return ['How the machine ended was not established.'];
  const { class: name, confidence, account } = report.verdict;
  return [codeBlock(`${printableLine(name)} (${printableLine(confidence)})\n${account}`, BLOCK_BOUNDS.account)];
}

function censusLines({ verbs, neverUsed }: SessionCensus): string {
  const counted = verbs.map(({ verb, count, refused, failed, errors }) => {
    const endings = Object.entries({ refused, failed, errors }).filter(([, times]) => times > 0);
    const shown = endings.map(([ending, times]) => `${times} ${ending}`).join(', ');
    return `${count} x ${printableLine(verb)}${shown === '' ? '' : ` (${shown})`}`;
  });
  const unused = neverUsed.length === 0 ? [] : [`never used: ${neverUsed.map(printableLine).join(', ')}`];
  return [...(counted.length === 0 ? ['no verb was used'] : counted), ...unused].join('\n');
}

function rulesParts({ rulesProblem }: PullRequestFacts): readonly string[] {
  if (rulesProblem === null) return [];
  return [
    "The project's own scratch rules had no part in this:",
    codeBlock(rulesProblem.message, BLOCK_BOUNDS.account),
  ];
}

function heldParts({ held, heldCount, publicationId }: PullRequestFacts): readonly string[] {
  if (heldCount === 0) return ['No file was held back.'];
  const lines = held.map(
    ({ path, rule, why }) => `${printableLine(path)}\n  ${printableLine(why)} (${printableLine(rule)})`,
  );
  return [
    `${heldCount} ${heldCount === 1 ? 'file is' : 'files are'} not in the commit; \`vmctl publish show ${publicationId}\` lists them too.`,
    codeBlock(lines.join('\n'), BLOCK_BOUNDS.held),
  ];
}
