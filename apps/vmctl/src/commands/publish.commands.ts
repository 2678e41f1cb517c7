import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { PublicationList, PublicationView } from '@inquest/contracts-publish';
import { printableLine } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { age } from '../output/phrases';

/** `publish ls|show|retry`: what went out, and what was held back. */
export function addPublishCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const publish = program.command('publish').description('what was published to the forge');
  publish
    .command('ls')
    .description('list publications, newest first')
    .action(() => list(context()));
  publish
    .command('show')
    .argument('<publication>', 'its id, as `vmctl publish ls` lists it')
    .description('show one publication with the files that were held back')
    .action((publication) => show(context(), 'GET', publication, ''));
  publish
    .command('retry')
    .argument('<publication>', 'its id, as `vmctl publish ls` lists it')
    .description('try a failed publication again; one that is published stays as it is')
    .action((publication) => show(context(), 'POST', publication, '/retry'));
}

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

async function show(
  { gateway, printer }: CliContext,
  method: 'GET' | 'POST',
  id: string,
  suffix: string,
): Promise<void> {
  const publication = await gateway.call(
    PublicationView,
    method,
    `/v1/publications/${encodeURIComponent(id)}${suffix}`,
    {
      ...(method === 'POST' ? { body: {} } : {}),
    },
  );
  printer.result(publication, () => describePublication(publication));
}

/** A publication for people, with everything that was held back. */
export function describePublication(p: PublicationView): string {
  return [
    `${p.publicationId}  ${p.state}  ${p.project}  ${p.branch}  ${p.commit}`,
    `  ${p.url ?? printableLine(p.message)}${p.isVerified ? ' (read back and verified)' : ''}`,
    ...(p.held.length > 0 ? [`  held back (${p.heldCount}):`] : []),
    ...p.held.map(({ path, why }) => `    ${printableLine(path)}: ${printableLine(why)}`),
  ].join('\n');
}
