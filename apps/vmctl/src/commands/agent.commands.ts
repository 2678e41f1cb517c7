import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { SessionView, type VerbName } from '@inquest/contracts-agent';
import type { CliContext, ContextOf } from '../context';
import { EXIT } from '../exit-codes';
import { runAgent } from '../run/run-agent';
import { watchSession } from '../run/watch-session';
import { addConfirmationCommands } from './confirmation.commands';
import { examples } from './examples';
import { collected, confirmableVerb, NO_COMMANDS, NO_HOSTS, NO_VERBS, wholeNumber } from './option-values';
import { findSession } from './transcript.commands';
import { sessionShape, type SessionShapeOptions } from './session-shape';

interface AgentRunOptions extends SessionShapeOptions {
  readonly project: string;
  readonly keep?: true | undefined;
  readonly confirmVerb: readonly VerbName[];
  readonly confirmCommand: readonly string[];
}

/** `agent run|watch|confirmations|answer`: a model works on a project in a fresh machine, and a person answers it. */
export function addAgentCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const agent = program.command('agent').description('let a model work in a machine');
  agent
    .command('run')
    .argument('<prompt...>', 'what is wanted')
    .requiredOption('--project <name>', 'host-side repository; made when it does not exist')
    .option('--image <image>', 'base system: name, or name:version', 'tiny')
    .option('--memory <MiB>', 'memory of its machine', wholeNumber)
    .option('--allow-host <host>', 'a host that its machine may reach by HTTPS; may be repeated', collected, NO_HOSTS)
    .option(
      '--confirm-verb <verb>',
      'ask a person before each call of this verb; may be repeated',
      confirmableVerb,
      NO_VERBS,
    )
    .option(
      '--confirm-command <words>',
      'ask a person before a command with these words; may be repeated',
      collected,
      NO_COMMANDS,
    )
    .option('--keep', 'leave the session and its machine open for a further run')
    .description('open a session, run the request, watch it live; then power off, judge, publish')
    .addHelpText(
      'after',
      [
        examples([
          "vmctl agent run --project site 'Add a page that lists the releases.'",
          'opens, works, closes, publishes',
        ]),
        examples([
          "vmctl agent run --project site --confirm-verb git_commit --confirm-command 'rm -rf' 'Tidy up.'",
          'waits for a person before these',
        ]),
        '',
        'While it waits for a person it says how to answer. Exit status 0 only when the run was completed. Ctrl-C cancels the run and closes the session.',
      ].join('\n'),
    )
    .action((prompt, options) => agentRun(context(), prompt.join(' '), options));
  agent
    .command('watch')
    .argument('[which]', 'a session, chat or project; the latest session when left out')
    .description(
      'watch a session from its beginning, until the run at work in it has ended, or else until it is closed',
    )
    .action((which) => agentWatch(context(), which));
  addConfirmationCommands(agent, context);
}

async function agentRun(context: CliContext, prompt: string, options: AgentRunOptions): Promise<void> {
  const { project, keep, confirmVerb, confirmCommand } = options;
  const confirm = { verbs: [...new Set(confirmVerb)], commands: [...confirmCommand] };
  const request = { prompt, project, shape: sessionShape(options), confirm, keepOpen: keep === true };
  const { run, session } = await runAgent(context, request);
  if (context.printer.json) context.printer.result({ run, session }, () => '');
  if (run.state !== 'completed' || session.state === 'failed') context.exit(EXIT.failed);
}

async function agentWatch(context: CliContext, which: string | undefined): Promise<void> {
  const { gateway, printer } = context;
  const sessionId = await findSession(context, which);
  const session = await gateway.call(SessionView, 'GET', `/v1/sessions/${encodeURIComponent(sessionId)}`);
  const entries = await watchSession(context, sessionId, session.currentRunId);
  if (printer.json) printer.result({ sessionId, entries }, () => '');
}
