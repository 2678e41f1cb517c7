import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CliContext, ContextOf } from './context';
import { addAgentCommands } from './commands/agent.commands';
import { addDemoCommands } from './commands/demo.commands';
import { addExplainCommands } from './commands/explain.commands';
import { addImageCommands } from './commands/image.commands';
import { addMachineCommands } from './commands/machine.commands';
import { addPublishCommands } from './commands/publish.commands';
import { addRunCommand } from './commands/run.command';
import { addSessionCommands } from './commands/session.commands';
import { addStackCommands } from './commands/stack.commands';
import { addTranscriptCommands } from './commands/transcript.commands';

const EXIT_STATUSES = `
Exit statuses: 0 done, 1 failed (the error was printed), 2 wrong usage, 3 the platform does not run.
'vmctl run' passes the command's own status through while the machine lives; see its --help for the others.

Start here: vmctl up, vmctl image build tiny, vmctl image freeze tiny, vmctl new tiny --name box, vmctl run box 'uname -a'`;

/** The whole command line. `contextFor` is called once per command, with what `--json` was. */
export function buildProgram(contextFor: (json: boolean) => CliContext): CommandUnknownOpts {
  let json = false;
  const context: ContextOf = () => contextFor(json);
  const program: CommandUnknownOpts = new Command('vmctl')
    .description('Run agents and dangerous scripts in disposable machines, with an honest account of how they ended.')
    .showHelpAfterError('(see --help)')
    // Options behind a guest's command belong to that command.
    .enablePositionalOptions()
    .addHelpText('after', EXIT_STATUSES) as CommandUnknownOpts;
  addStackCommands(program, context);
  addImageCommands(program, context);
  addMachineCommands(program, context);
  addRunCommand(program, context);
  addSessionCommands(program, context);
  addAgentCommands(program, context);
  addTranscriptCommands(program, context);
  addPublishCommands(program, context);
  addDemoCommands(program, context);
  addExplainCommands(program, context);
  for (const command of leaves(program)) command.option('--json', 'print one JSON document instead of text');
  program.hook('preAction', (_, action) => {
    json = (action.opts() as { json?: boolean }).json === true;
  });
  return program;
}

const leaves = (command: CommandUnknownOpts): readonly CommandUnknownOpts[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child));
