import { Option, type CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  agentError,
  CONFIRMATION_STATES,
  ConfirmationList,
  ConfirmationView,
  type ConfirmationState,
} from '@inquest/contracts-agent';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { describeConfirmation, timeLeft } from '../output/confirmation-text';
import { age } from '../output/phrases';
import { examples } from './examples';
import { wholeNumber } from './option-values';

interface AnswerOptions {
  readonly approve?: true | undefined;
  readonly deny?: true | undefined;
  readonly choice?: string | undefined;
  readonly reason: string;
}

interface ListOptions {
  readonly state: ConfirmationState;
  readonly all?: true | undefined;
  readonly limit: number;
}

const NOTHING_OPEN = 'nothing waits for an answer';

/** `agent confirmations|answer`: the questions of models that only a person may answer. */
export function addConfirmationCommands(agent: CommandUnknownOpts, context: ContextOf): void {
  agent
    .command('confirmations')
    .addOption(new Option('--state <state>', 'only those in this state').choices(CONFIRMATION_STATES).default('open'))
    .option('--all', 'those in every state')
    .option('--limit <count>', 'how many to list, 1 to 200', wholeNumber, 50)
    .description('list the questions that wait for a person, newest first')
    .action((options) => list(context(), options));
  agent
    .command('answer')
    .argument('[confirmation]', 'its id; may be left out while one alone is open')
    .option('--approve', 'let it be done')
    .option('--deny', 'do not let it be done')
    .option('--choice <choice>', 'which of the choices, where there are some')
    .option('--reason <text>', 'told to the model', '')
    .description('answer a question that a model waits with')
    .addHelpText(
      'after',
      examples(
        ['vmctl agent confirmations', 'what is asked'],
        ['vmctl agent answer cnf-7k2m9qxw4d --approve', 'the run goes on'],
        ['vmctl agent answer --deny --reason "not on a Friday"', 'the only one that is open'],
      ),
    )
    .action((id, options) => answer(context(), id, options));
}

async function list({ gateway, printer }: CliContext, { state, all, limit }: ListOptions): Promise<void> {
  const query = { limit, state: all === true ? null : state };
  const confirmations = await gateway.call(ConfirmationList, 'GET', '/v1/confirmations', { query });
  const now = Date.now();
  printer.list(
    confirmations,
    ['CONFIRMATION', 'PROJECT', 'SESSION', 'VERB', 'STATE', 'ASKED', 'LEFT', 'QUESTION'],
    confirmations.items.map((c) => [
      c.confirmationId,
      c.project,
      c.sessionId,
      c.verb,
      c.state,
      `${age(c.askedAtMs, now)} ago`,
      c.state === 'open' ? timeLeft(c, now) : '-',
      c.origin === 'policy' ? c.argumentsText : c.question,
    ]),
    NOTHING_OPEN,
  );
}

async function answer(context: CliContext, id: string | undefined, options: AnswerOptions): Promise<void> {
  const { gateway, printer } = context;
  const { approve, deny, choice = null, reason } = options;
  if ((approve === true) === (deny === true)) {
    throw cliError('CLI_USAGE_INVALID', 'an answer needs --approve or --deny, and not both');
  }
  if (deny === true && choice !== null) throw cliError('CLI_USAGE_INVALID', 'a denial takes no --choice');
  const shown = id === undefined ? await theOpenOne(context) : await show(context, id);
  const { confirmationId, runId, callId, argumentsDigest } = shown;
  const decision = approve === true ? 'approve' : 'deny';
  const body = { runId, callId, argumentsDigest, decision, choice, reason };
  const answered = await gateway.call(ConfirmationView, 'POST', `${pathOf(confirmationId)}/answer`, { body });
  printer.result(answered, () => describeConfirmation(answered, Date.now()));
}

const show = ({ gateway }: CliContext, id: string): Promise<ConfirmationView> =>
  gateway.call(ConfirmationView, 'GET', pathOf(id));

async function theOpenOne({ gateway }: CliContext): Promise<ConfirmationView> {
  const query = { state: 'open', limit: 2 };
  const { items } = await gateway.call(ConfirmationList, 'GET', '/v1/confirmations', { query });
  const [first] = items;
  if (first === undefined) throw agentError('CONFIRMATION_UNKNOWN', NOTHING_OPEN);
  if (items.length === 1) return first;
  throw cliError('CLI_USAGE_INVALID', 'more than one question is open: say which, see `vmctl agent confirmations`');
}

const pathOf = (id: string): string => `/v1/confirmations/${encodeURIComponent(id)}`;
