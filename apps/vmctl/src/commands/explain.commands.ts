import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { explainRefusal, guardGit } from '@inquest/git-guard';
import { classifyConsole } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';

/** `explain git|console`: offline, from the same libraries that decide. */
export function addExplainCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const explain = program.command('explain').description('why something is refused or judged; needs no platform');
  explain
    .command('git')
    .description('does the shell script on standard input write to a git repository?')
    .action(() => explainGit(context()));
  explain
    .command('console')
    .argument('<file>', 'a serial console log')
    .description('does a console log show a crash of the kernel, and which?')
    .action((file) => explainConsole(context(), file));
}

async function explainGit({ printer }: CliContext): Promise<void> {
  const guarded = guardGit((await buffer(process.stdin)).toString('utf8'));
  printer.result(guarded, () => {
    if (!guarded.parsed) return 'the script could not be parsed; the guard does not block it';
    return guarded.write ? explainRefusal(guarded) : 'no git command in this script writes to a repository';
  });
}

async function explainConsole({ printer }: CliContext, file: string): Promise<void> {
  const log = await readFile(file).catch((e: unknown) => {
    throw cliError('CLI_USAGE_INVALID', `${file} cannot be read`, { file }, e);
  });
  const { crashed, class: family, title, offset, truncated } = classifyConsole(log);
  printer.result({ crashed, class: family, title, offset, truncated }, () =>
    crashed ? `${title ?? ''} (${family ?? ''}) at byte ${offset}${truncated ? ', report truncated' : ''}` : 'no crash found',
  );
}
