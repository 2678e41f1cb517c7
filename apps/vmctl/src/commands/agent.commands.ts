import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CliContext, ContextOf } from '../context';
import { EXIT } from '../exit-codes';
import { runAgent } from '../run/run-agent';
import { examples } from './examples';

interface AgentRunOptions {
  readonly project: string;
  readonly image: string;
  readonly keep?: true | undefined;
}

/** `agent run`: a model works on a project in a fresh machine. */
export function addAgentCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const agent = program.command('agent').description('let a model work in a machine');
  agent
    .command('run')
    .argument('<prompt...>', 'what is wanted')
    .requiredOption('--project <name>', 'host-side repository; made when it does not exist')
    .option('--image <image>', 'base system', 'tiny')
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

async function agentRun(context: CliContext, prompt: string, { project, image, keep }: AgentRunOptions): Promise<void> {
  const { run, session } = await runAgent(context, { prompt, project, image, keepOpen: keep === true });
  if (context.printer.json) context.printer.result({ run, session }, () => '');
  if (run.state !== 'completed' || session.state === 'failed') context.exit(EXIT.failed);
}
