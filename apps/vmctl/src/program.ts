import type { Writable } from 'node:stream';
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addAgentCommands } from './commands/agent.commands';
import { addCloneCommand } from './commands/clone.command';
import { addDemoCommands } from './commands/demo.commands';
import { addExplainCommands } from './commands/explain.commands';
import { addImageCommands } from './commands/image.commands';
import { addMachineCommands } from './commands/machine.commands';
import { addNewCommand } from './commands/new.command';
import { addPublishCommands } from './commands/publish.commands';
import { addRunCommand } from './commands/run.command';
import { addScreenCommands } from './commands/screen.commands';
import { addSelftestCommand } from './commands/selftest.command';
import { addSessionCommands } from './commands/session.commands';
import { addShareCommands } from './commands/share.commands';
import { addShellCommand } from './commands/shell.command';
import { addStackCommands } from './commands/stack.commands';
import { addTailCommand } from './commands/tail.command';
import { addTranscriptCommands } from './commands/transcript.commands';
import { addVerdictCommand } from './commands/verdict.command';
import type { CliContext, ContextOf } from './context';
import { VERSION } from './version';

const AFTER_HELP = `
Exit statuses: 0 done, 1 failed (the error was printed), 2 wrong usage, 3 the platform does not run.
'vmctl run' passes the command's own status through while the machine lives; see its --help for the others.
Data goes to standard output, everything else to standard error. NO_COLOR switches colours off.

Environment: INQUEST_HOME (state of the platform), INQUEST_URL and INQUEST_TOKEN (a platform elsewhere).

Start here:
  vmctl up
  vmctl image build tiny && vmctl image freeze tiny
  vmctl new tiny --name box
  vmctl run box 'uname -a'
  vmctl run box poweroff
  vmctl down`;

interface ProgramOutput {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

const COMMAND_GROUPS: readonly (readonly [
  heading: string,
  add: (program: CommandUnknownOpts, context: ContextOf) => void,
])[] = [
  ['Platform on this host:', addStackCommands],
  ['Images:', addImageCommands],
  ['Machines:', addNewCommand],
  ['Machines:', addMachineCommands],
  ['Machines:', addRunCommand],
  ['Machines:', addShellCommand],
  ['Machines:', addTailCommand],
  ['Machines:', addScreenCommands],
  ['Machines:', addShareCommands],
  ['Machines:', addCloneCommand],
  ['Machines:', addVerdictCommand],
  ['A model at work:', addAgentCommands],
  ['A session by hand, without a model:', addSessionCommands],
  ['Records:', addTranscriptCommands],
  ['Records:', addPublishCommands],
  ['To learn:', addDemoCommands],
  ['To learn:', addSelftestCommand],
  ['To learn:', addExplainCommands],
];

/**
 * The whole command line. `contextFor` is called once per command, with what `--json` was. Wrong usage is written to
 * `stderr` and thrown as a `CommanderError`; help and version go to `stdout`.
 */
export function buildProgram(
  { stdout, stderr }: ProgramOutput,
  contextFor: (json: boolean) => CliContext,
): CommandUnknownOpts {
  let json = false;
  const context: ContextOf = () => contextFor(json);
  const program: CommandUnknownOpts = new Command('vmctl')
    .description('Run agents and dangerous scripts in disposable machines, with an honest account of how they ended.')
    .version(VERSION, '--version', 'print the version of vmctl')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .configureHelp({ subcommandTerm: nameAndArguments })
    .showHelpAfterError('(--help shows how)')
    // Options behind a guest's command belong to that command.
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
  for (const [heading, add] of COMMAND_GROUPS) {
    program.commandsGroup(heading);
    add(program, context);
  }
  program.helpCommand(true);
  for (const command of withDescendants(program)) command.option('--json', 'print one JSON document instead of text');
  program.hook('preAction', (_, action) => {
    json = (action.optsWithGlobals() as { json?: boolean }).json === true;
  });
  return program;
}

/** Every command but groups, which do nothing by themselves. */
export const leafCommands = (command: CommandUnknownOpts): readonly CommandUnknownOpts[] =>
  withDescendants(command).filter(({ commands }) => commands.length === 0);

const withDescendants = (command: CommandUnknownOpts): readonly CommandUnknownOpts[] => [
  command,
  ...command.commands.flatMap((child) => withDescendants(child)),
];

function nameAndArguments(command: CommandUnknownOpts): string {
  const args = command.registeredArguments.map((argument) => {
    const shown = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${shown}>` : `[${shown}]`;
  });
  return [command.name(), ...args].join(' ');
}
