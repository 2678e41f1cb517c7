import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CliContext, ContextOf } from '../context';
import { EXIT } from '../exit-codes';
import { runAgent } from '../run/run-agent';
import { examples } from './examples';
import { collected, NO_HOSTS, wholeNumber } from './option-values';
import { sessionShape, type SessionShapeOptions } from './session-shape';

interface AgentRunOptions extends SessionShapeOptions {
  readonly project: string;
  readonly keep?: true | undefined;
}

/** `agent run`: a model works on a project in a fresh machine. */
export function addAgentCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const agent = program.command('agent').description('let a model work in a machine');
  agent
    .command('run')
    .argument('<prompt...>', 'what is wanted')
    .requiredOption('--project <name>', 'host-side repository; made when it does not exist')
    .option('--image <image>', 'base system: name, or name:version', 'tiny')
    .option('--memory <MiB>', 'memory of its machine', wholeNumber)
    .option('--allow-host <host>', 'a host that its machine may reach by HTTPS; may be repeated', collected, NO_HOSTS)
    .option('--keep', 'leave the session and its machine open for a further run')
    .description('open a session, run the request, watch it live; then power off, judge, publish')
    .addHelpText(
      'after',
      [
        examples([
          "vmctl agent run --project site 'Add a page that lists the releases.'",
          'opens, works, closes, publishes',
        ]),
        '',
        'Exit status 0 only when the run was completed. Ctrl-C cancels the run and closes the session.',
      ].join('\n'),
    )
    .action((prompt, options) => agentRun(context(), prompt.join(' '), options));
}

async function agentRun(context: CliContext, prompt: string, options: AgentRunOptions): Promise<void> {
  const { project, keep } = options;
  const request = { prompt, project, shape: sessionShape(options), keepOpen: keep === true };
  const { run, session } = await runAgent(context, request);
  if (context.printer.json) context.printer.result({ run, session }, () => '');
  if (run.state !== 'completed' || session.state === 'failed') context.exit(EXIT.failed);
}
