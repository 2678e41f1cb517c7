import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { explainRefusal, guardGit } from '@inquest/git-guard';
import { printableLine } from '@inquest/transcript';
import { ConsoleClassifier, type ConsoleClassification } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { describeRulesProblem } from '../output/rules-problem';
import { explainTree } from '../explain/explain-tree';
import { examples } from './examples';

/** `explain git|scratch|console`: offline, from the same libraries that decide. */
export function addExplainCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const explain = program
    .command('explain')
    .description('why something is refused, held back or judged; needs no platform');
  explain
    .command('git')
    .description('does the shell script on standard input write to a git repository?')
    .addHelpText('after', examples(["echo 'git add -A' | vmctl explain git", 'why the verb `run` refuses it']))
    .action(() => explainGit(context()));
  explain
    .command('scratch')
    .argument('<directory>', 'the top of a git work tree')
    .description('which files of a work tree would be held back from a commit, and why?')
    .action((directory) => explainScratch(context(), directory));
  explain
    .command('console')
    .argument('<file>', 'a serial console log')
    .description('does a console log show a crash of the kernel, and which?')
    .action((file) => explainConsole(context(), file));
}

async function explainGit({ printer, stdin }: CliContext): Promise<void> {
  const guarded = guardGit((await buffer(stdin)).toString('utf8'));
  printer.result(guarded, () => {
    if (!guarded.parsed) return 'the script could not be parsed; the guard does not block it';
    return guarded.write ? explainRefusal(guarded) : 'no git command in this script writes to a repository';
  });
}

async function explainScratch({ printer, signal }: CliContext, directory: string): Promise<void> {
  const { kept, held, rulesProblem } = await explainTree(directory, signal);
  printer.result({ kept, held, rulesProblem: rulesProblem?.toBody() ?? null }, () =>
    [
      `${kept.length} kept, ${held.length} held back`,
      ...(rulesProblem === null ? [] : describeRulesProblem(rulesProblem)),
      ...held.map(({ path, rule, why }) => `  ${printableLine(path)}  ${rule}: ${printableLine(why)}`),
    ].join('\n'),
  );
}

async function explainConsole({ printer, signal }: CliContext, file: string): Promise<void> {
  const { crashed, class: family, title, offset, truncated } = await classifyFile(file, signal);
  printer.result({ crashed, class: family, title, offset, truncated }, () =>
    crashed
      ? `${printableLine(title)} (${family ?? ''}) at byte ${offset}${truncated ? ', report truncated' : ''}`
      : 'no crash found',
  );
}

/** In chunks: a guest may have written to its console for days. */
async function classifyFile(file: string, signal: AbortSignal): Promise<ConsoleClassification> {
  const classifier = new ConsoleClassifier();
  try {
    for await (const chunk of createReadStream(file, { signal }) as AsyncIterable<Uint8Array>) classifier.push(chunk);
  } catch (e) {
    signal.throwIfAborted();
    throw cliError('CLI_FILE_UNREADABLE', `${file} cannot be read: ${(e as Error).message}`, { file }, e);
  }
  return classifier.finish();
}
