import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { PublicationList, PublicationView, type PublicationStepView } from '@inquest/contracts-publish';
import { printableLine } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { age } from '../output/phrases';
import { describeRulesProblem } from '../output/rules-problem';

/** `publish ls|show|retry|release`: what went out, and what was held back. */
export function addPublishCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const publish = program.command('publish').description('what was published to the forge');
  publish
    .command('ls')
    .description('list publications, newest first')
    .action(() => list(context()));
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

async function list({ gateway, printer }: CliContext): Promise<void> {
  const publications = await gateway.call(PublicationList, 'GET', '/v1/publications');
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
    'nothing was published yet; a session publishes its commits when it closes',
  );
}

async function show({ gateway, printer }: CliContext, id: string): Promise<void> {
  const publication = await gateway.call(PublicationView, 'GET', pathOf(id));
  printer.result(publication, () => describePublication(publication));
}

async function change({ gateway, printer }: CliContext, id: string, what: string, body: object): Promise<void> {
  const publication = await gateway.call(PublicationView, 'POST', `${pathOf(id)}/${what}`, { body });
  printer.result(publication, () => describePublication(publication));
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
  ].join('\n');
}

const describeStep = ({ kind, state, url, message }: PublicationStepView): string =>
  `  ${kind}: ${state}  ${url ?? printableLine(message)}`;

function describeFailure({ publicationId, error, nextAttemptAtMs }: PublicationView): string[] {
  if (error === null) return [];
  const again = `vmctl publish retry ${publicationId}`;
  return [
    `  [${error.code}] ${printableLine(error.remediation)}`,
    nextAttemptAtMs === null
      ? `  then: ${again}`
      : `  tried again at ${new Date(nextAttemptAtMs).toISOString()} by itself, or now: ${again}`,
  ];
}
