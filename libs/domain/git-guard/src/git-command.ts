import { scanArguments, type Field } from './arguments';
import { effectOf, GLOBAL_INFO_OPTIONS, GLOBAL_VALUED_OPTIONS, type SubcommandForms } from './git-subcommands';

/** A git command line that writes. */
export interface GitWrite {
  readonly subcommand: string;
  readonly isKnownCommand: boolean;
}

const DASHED_PREFIX = 'git-';

/** The subcommand of a dashed git program (`git-add`), or null when it is no program of git's own. */
export function dashedSubcommand(program: string): string | null {
  if (!program.startsWith(DASHED_PREFIX)) return null;
  const name = program.slice(DASHED_PREFIX.length);
  return effectOf(name) === null ? null : name;
}

/** The words after `git` and its global options, subcommand first; empty when git only prints about itself. */
export function subcommandWords(args: readonly Field[]): readonly Field[] {
  for (let i = 0; i < args.length; i++) {
    const { text, isKnown } = args[i] as Field;
    if (GLOBAL_INFO_OPTIONS.has(text)) return [];
    if (GLOBAL_VALUED_OPTIONS.has(text)) i++;
    else if (!text.startsWith('-') && (isKnown || !isWriteCommand(args[i + 1]))) return args.slice(i);
  }
  return [];
}

// `git $OPTIONS add`: the dynamic word stands for options, because a command that writes follows it.
function isWriteCommand(field: Field | undefined): boolean {
  if (field?.isKnown !== true) return false;
  const effect = effectOf(field.text);
  return effect === 'writes' || (effect !== null && effect !== 'reads' && effect.otherwiseReads !== true);
}

// git turns a first `--help` into `git help`, and a lone `-h` prints the usage.
const asksForHelp = (args: readonly Field[]): boolean =>
  args[0]?.text === '--help' || (args.length === 1 && args[0]?.text === '-h');

const hasVerb = (verbs: readonly string[] | undefined, operand: Field | undefined): boolean =>
  operand?.isKnown === true && verbs !== undefined && verbs.includes(operand.text);

function formWrites(forms: SubcommandForms, args: readonly Field[]): boolean {
  const { options, operands } = scanArguments(args, { valued: forms.valued ?? [], stopsAtOperand: false });
  const hasOption = (names: readonly string[] | undefined): boolean =>
    names?.some((name) => options.has(name)) === true;
  if (hasOption(forms.dryRunOptions)) return false;
  if (hasOption(forms.writeOptions)) return true;
  if (hasOption(forms.readOptions)) return false;
  // What stands behind `--` is a path: `git stash -- list`.
  const verb = args.find(({ text }) => text === '--' || text === operands[0]?.text);
  if (hasVerb(forms.readVerbs, verb)) return false;
  if (hasVerb(forms.writeVerbs, verb)) return true;
  if (operands.length <= (forms.maxReadOperands ?? -1)) return false;
  return forms.otherwiseReads !== true;
}

/**
 * The write that `git <words>` does, or null when it reads. A subcommand that git does not document counts as an alias
 * that writes; one that is only known at run time is not guessed.
 */
export function findGitWrite(words: readonly Field[]): GitWrite | null {
  const [spelt, ...args] = words;
  if (spelt === undefined || !spelt.isKnown) return null;
  // Of lines that end in CR LF.
  const subcommand = { text: spelt.text.replace(/\r$/, '') };
  const effect = effectOf(subcommand.text);
  if (effect === null) return { subcommand: subcommand.text, isKnownCommand: false };
  if (effect === 'reads' || asksForHelp(args)) return null;
  const writes = effect === 'writes' || formWrites(effect, args);
  return writes ? { subcommand: subcommand.text, isKnownCommand: true } : null;
}
