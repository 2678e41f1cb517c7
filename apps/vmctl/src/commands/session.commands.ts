import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { SessionView, VerbResult } from '@inquest/contracts-agent';
import { printable } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { EXIT } from '../exit-codes';
import { awaitSession, describeSession } from '../run/await-session';
import { verdictText } from '../output/verdict-text';
import { examples } from './examples';
import { collected, NO_HOSTS, wholeNumber } from './option-values';
import { describePublication } from './publish.commands';
import { sessionShape, type SessionShapeOptions } from './session-shape';

/** More than the longest verb: the platform answers for one that takes too long. */
const VERB_TIMEOUT_MS = 700_000;
const SESSION_ARGUMENT = 'its id, as `vmctl open` and `vmctl logs` print it';

/** `open|ready|plan|verb|close`: a session driven by hand, the machinery without a model. */
export function addSessionCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('open')
    .argument('<project>', 'host-side repository; made when it does not exist')
    .option('--image <image>', 'base system: name, or name:version', 'tiny')
    .option('--memory <MiB>', 'memory of its machine', wholeNumber)
    .option('--allow-host <host>', 'a host that its machine may reach by HTTPS; may be repeated', collected, NO_HOSTS)
    .description('open a session to be driven by hand')
    .addHelpText(
      'after',
      examples(
        ['S=$(vmctl open site --json | jq -r .sessionId)', 'opens one, and keeps its id'],
        ['vmctl ready $S', 'waits for its machine'],
        ["vmctl plan $S 'Look, change, check.'", 'what a model has to do first, too'],
        ['vmctl verb $S run \'{"command": "ls /mnt/project"}\'', 'one action'],
        ['vmctl close $S', 'powers off, judges, publishes'],
      ),
    )
    .action((project, options) => open(context(), project, options));
  program
    .command('ready')
    .argument('<session>', SESSION_ARGUMENT)
    .description('wait until the machine of a session is ready')
    .action((session) => ready(context(), session));
  program
    .command('plan')
    .argument('<session>', SESSION_ARGUMENT)
    .argument('<text...>', 'what is going to be done')
    .description('record the plan; verbs that change the machine are refused before')
    .action((session, text) => invoke(context(), session, 'plan', { plan: text.join(' ') }));
  program
    .command('verb')
    .argument('<session>', SESSION_ARGUMENT)
    .argument('<verb>', 'run, read_file, write_file, list_files, check_internet, git_commit, ...')
    .argument('[arguments]', 'as JSON', '{}')
    .description('do one verb by hand, exactly as a model would')
    .action((session, verb, args) => invoke(context(), session, verb, parseArguments(args)));
  program
    .command('close')
    .argument('<session>', SESSION_ARGUMENT)
    .option('--no-publish', 'keep the commits on the host only')
    .description('power off, draw the verdict, publish, close')
    .action((session, { publish }) => close(context(), session, publish));
}

async function open({ gateway, printer }: CliContext, project: string, options: SessionShapeOptions): Promise<void> {
  const body = { project, mode: 'hand', ...sessionShape(options) };
  const session = await gateway.call(SessionView, 'POST', '/v1/sessions', { body });
  printer.result(session, () => `${session.sessionId}\n  next: vmctl ready ${session.sessionId}`);
}

async function ready(context: CliContext, sessionId: string): Promise<void> {
  const session = await awaitSession(context, sessionId, ['ready', 'closed', 'failed']);
  context.printer.result(session, () => describeSession(session));
  if (session.state !== 'ready') context.exit(EXIT.failed);
}

async function invoke(
  { gateway, printer, exit }: CliContext,
  session: string,
  verb: string,
  args: object,
): Promise<void> {
  const path = `/v1/sessions/${encodeURIComponent(session)}/verbs/${encodeURIComponent(verb)}`;
  const result = await gateway.call(VerbResult, 'POST', path, {
    body: { arguments: args },
    timeoutMs: VERB_TIMEOUT_MS,
  });
  printer.result(result, () =>
    result.outcome === 'ok' ? printable(result.text) : `${result.outcome}: ${printable(result.text)}`,
  );
  if (result.outcome !== 'ok') exit(EXIT.failed);
}

async function close(context: CliContext, sessionId: string, publish: boolean): Promise<void> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/close`;
  await context.gateway.call(SessionView, 'POST', path, { body: { publish } });
  const session = await awaitSession(context, sessionId, ['closed', 'failed']);
  const { verdict, publication } = session;
  context.printer.result(session, () =>
    [
      describeSession(session),
      ...(verdict === null ? [] : [verdictText(verdict)]),
      ...(publication === null ? [] : [describePublication(publication)]),
    ].join('\n'),
  );
  if (session.state !== 'closed') context.exit(EXIT.failed);
}

function parseArguments(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below, like JSON that is not an object.
  }
  throw cliError('CLI_USAGE_INVALID', 'the arguments of a verb must be one JSON object, e.g. \'{"command": "ls"}\'');
}
