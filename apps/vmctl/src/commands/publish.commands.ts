import { Option, type CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  PUBLICATION_STATES,
  PublicationList,
  PublicationView,
  type PublicationStepView,
} from '@inquest/contracts-publish';
import { printableLine } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { EXIT } from '../exit-codes';
import { age } from '../output/phrases';
import { describeRulesProblem } from '../output/rules-problem';
import { wholeNumber } from './option-values';

/** `publish ls|show|retry|release`: what went out, and what was held back. */
export function addPublishCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const publish = program.command('publish').description('what was published to the forge');
  publish
    .command('ls')
    .option('--project <project>', 'only those of a project')
    .option('--session <session>', 'only those of a session')
    .addOption(new Option('--state <state>', 'only those in a state').choices(PUBLICATION_STATES))
    .option('--limit <count>', 'publications to list, 1 to 200', wholeNumber, 50)
    .option('--page <token>', 'go on where an earlier listing ended, which names the token')
    .description('list publications, newest first')
    .action(({ project, session, state, limit, page }) =>
      list(context(), {
        limit,
        ...(project === undefined ? {} : { project }),
        ...(session === undefined ? {} : { sessionId: session }),
        ...(state === undefined ? {} : { state }),
        ...(page === undefined ? {} : { nextToken: page }),
      }),
    );
  publish
    .command('show')
    .argument(...ID)
    .description('show one publication: what the forge has of it, what failed, which files were held back')
    .action((publication) => show(context(), publication));
  publish
    .command('retry')
    .argument(...ID)
    .option('--own-branch', 'publish to a branch of the session, past a branch that somebody else moved')
    .description('try a failed publication again; what is published stays as it is')
    .action((publication, { ownBranch = false }) => change(context(), publication, 'retry', { ownBranch }));
  publish
    .command('release')
    .argument(...ID)
    .requiredOption('--tag <tag>', 'tag of the release; made at the commit of the publication, never moved')
    .option('--title <title>', 'title of the release; the tag when there is none', '')
    .option('--notes <markdown>', 'what is new in it', '')
    .option('--artifact <path...>', 'files of the commit to offer, by their paths in the project')
    .description('release the commit of a publication on the forge')
    .action((publication, { artifact: artifacts = [], ...release }) =>
      change(context(), publication, 'release', { ...release, artifacts }),
    );
}

const ID = ['<publication>', 'its id, as `vmctl publish ls` lists it'] as const;

async function list({ gateway, printer }: CliContext, query: Readonly<Record<string, string | number>>): Promise<void> {
  const publications = await gateway.call(PublicationList, 'GET', '/v1/publications', { query });
  const now = Date.now();
  printer.list(
    publications,
    ['PUBLICATION', 'PROJECT', 'STATE', 'COMMIT', 'BRANCH', 'HELD', 'AGE', 'WHERE'],
    publications.items.map((p) => [
      p.publicationId,
      p.project,
      p.state,
      p.commit.slice(0, 10),
      p.branch,
      String(p.heldCount),
      age(p.createdAtMs, now),
      p.url ?? p.message,
    ]),
    isFiltered(query)
      ? 'there is no such publication; `vmctl publish ls` lists all'
      : 'nothing was published yet; a session publishes its commits when it closes',
  );
  if (publications.nextToken !== null && !printer.json) {
    printer.note(`there are more: the same command with --page ${publications.nextToken}`);
  }
}

const isFiltered = (query: object): boolean => Object.keys(query).some((name) => name !== 'limit');

async function show({ gateway, printer }: CliContext, id: string): Promise<void> {
  const publication = await gateway.call(PublicationView, 'GET', pathOf(id));
  printer.result(publication, () => describePublication(publication));
}

/** Ends with 1 when the publication is not published afterwards, so that a script need not read what is printed. */
async function change({ gateway, printer, exit }: CliContext, id: string, what: string, body: object): Promise<void> {
  const publication = await gateway.call(PublicationView, 'POST', `${pathOf(id)}/${what}`, { body });
  printer.result(publication, () => describePublication(publication));
  if (publication.state !== 'published') exit(EXIT.failed);
}

const pathOf = (id: string): string => `/v1/publications/${encodeURIComponent(id)}`;

/** A publication for people: where it is, what failed and what to do about it, and everything that was held back. */
export function describePublication(p: PublicationView): string {
  return [
    `${p.publicationId}  ${p.state}  ${p.project}  ${p.branch}  ${p.commit}`,
    ...(p.url === null ? [] : [`  ${p.url}${p.isVerified ? ' (read back and verified)' : ''}`]),
    ...(p.url === null || p.error !== null ? [`  ${printableLine(p.message)}`] : []),
    ...p.steps.map(describeStep),
    ...describeFailure(p),
    ...(p.rulesProblem === null ? [] : describeRulesProblem(p.rulesProblem)),
    ...(p.held.length > 0 ? [`  held back (${p.heldCount}):`] : []),
    ...p.held.map(({ path, why }) => `    ${printableLine(path)}: ${printableLine(why)}`),
    ...(p.held.length > 0 && p.heldCount > p.held.length ? [`    and ${p.heldCount - p.held.length} more`] : []),
  ].join('\n');
}

const describeStep = ({ kind, state, url, message }: PublicationStepView): string =>
  `  ${kind}: ${state}  ${[printableLine(message), url].filter(Boolean).join('  ')}`;

function describeFailure({ publicationId, state, error, nextAttemptAtMs }: PublicationView): string[] {
  const again = `vmctl publish retry ${publicationId}`;
  if (state === 'skipped') return [`  once publish-service has a forge (INQUEST_FORGE): ${again}`];
  if (error === null) return [];
  return [
    `  [${error.code}] ${printableLine(error.remediation)}`,
    nextAttemptAtMs === null
      ? `  then: ${again}`
      : `  tried again at ${new Date(nextAttemptAtMs).toISOString()} by itself, or now: ${again}`,
  ];
}
