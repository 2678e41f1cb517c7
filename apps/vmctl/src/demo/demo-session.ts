import { ImageView } from '@inquest/contracts-image';
import { hasCode, newId } from '@inquest/kernel';
import { stackLayout, stackStatus } from '@inquest/stack';
import type { TranscriptEntry } from '@inquest/transcript';
import { homeFrom } from '../api/platform-address';
import { describePublication } from '../commands/publish.commands';
import { sessionShape } from '../commands/session-shape';
import { bringUp } from '../commands/stack.commands';
import { operateOnImage } from '../commands/image.commands';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import { aligned } from '../output/aligned';
import { verdictText } from '../output/verdict-text';
import { runAgent, type AgentRunResult } from '../run/run-agent';

const IMAGE = 'tiny';
const PROMPT = 'Write a small program that prints FizzBuzz, check it, and commit it.';

/**
 * One session from nothing to a published commit, shown live. Throws `CLI_DEMO_UNPROVEN` unless the model's verbs, the
 * refused git commit, the clean power-off and the published commit all really happened.
 */
export async function demoSession(context: CliContext): Promise<void> {
  const { printer } = context;
  await ensureUp(context);
  await ensureFrozen(context);
  // A project of its own each time: where the work is there already, nothing is left to commit.
  const project = newId<string>('quickstart');
  const shape = sessionShape({ image: IMAGE, allowHost: [] });
  const result = await runAgent(context, { prompt: PROMPT, project, shape, confirm: null, keepOpen: false });
  requireProof(result);
  printer.result({ run: result.run, session: result.session }, () => summary(context, result));
}

/** Starts the platform of this home unless it runs. */
export async function ensureUp(context: CliContext): Promise<void> {
  const { isUp, state } = await stackStatus(homeFrom(context.env));
  if (isUp) context.printer.note(`the platform is up at ${state?.gatewayUrl ?? ''}`);
  else await bringUp(context);
}

/** Builds and freezes the image of the demonstrations unless it has a frozen version. */
export async function ensureFrozen(context: CliContext): Promise<void> {
  const { gateway, printer } = context;
  const image = await gateway.call(ImageView, 'GET', `/v1/images/${IMAGE}`).catch((e: unknown) => {
    if (hasCode(e, 'IMAGE_UNKNOWN')) return null;
    throw e;
  });
  if (image?.frozenVersion != null) {
    printer.note(`image ${IMAGE}:${image.frozenVersion} is frozen`);
    return;
  }
  printer.note(`building image ${IMAGE}`);
  await operateOnImage(context, 'build', IMAGE, null);
  printer.note(`freezing image ${IMAGE}`);
  await operateOnImage(context, 'freeze', IMAGE, null);
}

/** What must be in the record for the demonstration to have shown anything. */
const PROOFS: readonly (readonly [what: string, holds: (result: AgentRunResult) => boolean])[] = [
  ['the run is completed', ({ run }) => run.state === 'completed'],
  ['a command ran in the guest', ({ entries }) => entries.some((e) => isVerb(e, 'run', 'ok'))],
  ['a file was written in the guest', ({ entries }) => entries.some((e) => isVerb(e, 'write_file', 'ok'))],
  ['a raw git commit was refused', ({ entries }) => entries.some((e) => isVerb(e, 'run', 'refused'))],
  ['git_commit made a commit', ({ entries }) => entries.some((e) => isVerb(e, 'git_commit', 'ok'))],
  ['scratch was held back', ({ entries }) => entries.some((e) => e.type === 'publication' && e.held.length > 0)],
  ['a census was taken', ({ entries }) => entries.some((e) => e.type === 'census')],
  ['the machine powered off cleanly', ({ session }) => session.verdict?.class === 'clean_poweroff'],
  [
    'the commit is on the forge, read back',
    ({ session: { publication } }) => publication?.state === 'published' && publication.isVerified,
  ],
];

const isVerb = (entry: TranscriptEntry, verb: string, outcome: string): boolean =>
  entry.type === 'verb' && entry.verb === verb && entry.outcome === outcome;

function requireProof(result: AgentRunResult): void {
  const missing = PROOFS.filter(([, holds]) => !holds(result)).map(([what]) => what);
  if (missing.length === 0) return;
  throw cliError('CLI_DEMO_UNPROVEN', `not shown: ${missing.join('; ')}`, { session: result.session.sessionId });
}

function summary({ env }: CliContext, { session }: AgentRunResult): string {
  const layout = stackLayout(homeFrom(env));
  const { verdict, publication, sessionId, machineId } = session;
  return [
    '',
    ...(verdict === null ? [] : [verdictText(verdict)]),
    '',
    ...(publication === null ? [] : [describePublication(publication)]),
    '',
    'How to go on:',
    ...aligned([
      [`git clone ${publication?.url ?? ''}`, 'what was published'],
      [`npm run vmctl -- log ${sessionId} --verbose`, 'everything that was done'],
      [`npm run vmctl -- verdict ${machineId ?? ''}`, 'how the machine ended, drawn again from its evidence'],
      ['npm run vmctl -- new tiny --name box', 'a machine of your own'],
      ["npm run vmctl -- run box 'reboot -f'", '... and what becomes of it'],
      ['npm run vmctl -- --help', 'everything else'],
      ['npm run quickstart -- --down', 'stop; no process stays behind'],
    ]),
    `The state is in ${layout.home}.`,
  ].join('\n');
}
