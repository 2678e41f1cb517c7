import { derivedField, scanArguments, type Field, type ScannedArguments } from './arguments';
import {
  COMMAND_PREFIXES,
  EMBEDDED_COMMANDS,
  SHELL_VALUED_OPTIONS,
  SHELLS,
  STDIN_SCRIPT_COMMANDS,
  type CommandMarkers,
  type CommandPrefix,
} from './command-prefixes';
import { dashedSubcommand, subcommandWords } from './git-command';

/** What running one command line comes to, once the commands that run other commands are taken off. */
export type Invocation =
  /** Runs git; `words` start with the subcommand. */
  | { readonly kind: 'git'; readonly command: Field; readonly words: readonly Field[] }
  /** Runs a shell script, with `positionals` as its `$1`, `$2`, ..., in this shell or in one of its own. */
  | {
      readonly kind: 'script';
      readonly script: Field;
      readonly positionals: readonly Field[];
      readonly runsInSameShell: boolean;
    }
  /** Runs a shell script that is in a file. */
  | {
      readonly kind: 'file-script';
      readonly file: Field;
      readonly positionals: readonly Field[];
      readonly runsInSameShell: boolean;
    }
  /** Runs a shell script that it reads from standard input. */
  | { readonly kind: 'stdin-script' }
  /** More prefixes than are followed. */
  | { readonly kind: 'too-deep' }
  /** Runs some other command, perhaps a function of the script. */
  | { readonly kind: 'other'; readonly name: string; readonly args: readonly Field[] };

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

// `"$PREFIX/bin/git"` runs git, whatever the prefix is.
const DYNAMIC_DIRECTORY = /\/git(?:-[a-z-]+)?$/;

const SOURCE_COMMANDS: ReadonlySet<string> = new Set(['.', 'source']);

const STDIN_FILES: ReadonlySet<string> = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

// People stack three or four; a longer chain is refused to be followed rather than half followed.
const MAX_PREFIXES = 32;

/**
 * Takes prefixes (`sudo -u x env A=1 nice ...`) off a command line until something runs. Several results come from
 * `find` with more than one `-exec`; none from lookups.
 *
 * @param stdin Literal text on standard input, which xargs appends to its command; null when unknown.
 */
export const resolveInvocations = (argv: readonly Field[], stdin: Field | null): readonly Invocation[] =>
  resolve(argv, stdin, 0);

function resolve(argv: readonly Field[], stdin: Field | null, depth: number): readonly Invocation[] {
  const [command] = argv;
  if (command === undefined) return [];
  if (depth > MAX_PREFIXES) return [{ kind: 'too-deep' }];
  const args = argv.slice(1);
  // `$SUDO git add`: a dynamic word before git or a prefix is most likely an empty variable or a prefix.
  if (!command.isKnown && !DYNAMIC_DIRECTORY.test(command.text)) {
    const known = args.findIndex(({ isKnown }) => isKnown);
    return startsCommand(args[known]) ? resolve(args.slice(known), stdin, depth + 1) : [];
  }
  const name = basename(command.text);
  if (name === 'git') return resolveGit(command, subcommandWords(args), stdin, depth);
  const dashed = dashedSubcommand(name);
  if (dashed !== null) return [{ kind: 'git', command, words: [derivedField(dashed, command.pos), ...args] }];
  if (SHELLS.has(name)) return resolveShell(args);
  if (STDIN_SCRIPT_COMMANDS.has(name)) return [{ kind: 'stdin-script' }];
  if (SOURCE_COMMANDS.has(name)) return resolveScriptFile(args, true);
  const markers = EMBEDDED_COMMANDS.get(name);
  if (markers !== undefined) return embeddedLines(args, markers).flatMap((line) => resolve(line, stdin, depth + 1));
  const prefix = COMMAND_PREFIXES.get(name);
  if (prefix !== undefined) return resolvePrefix(prefix, args, stdin, depth);
  return [{ kind: 'other', name: command.text, args }];
}

/**
 * False for a command that runs nothing but itself, whatever its arguments are: neither git, nor a shell, nor a command
 * that runs another one.
 */
export function mayRunOthers(command: string): boolean {
  const name = basename(command);
  return (
    COMMAND_PREFIXES.has(name) ||
    SHELLS.has(name) ||
    EMBEDDED_COMMANDS.has(name) ||
    STDIN_SCRIPT_COMMANDS.has(name) ||
    SOURCE_COMMANDS.has(name) ||
    name.startsWith('git')
  );
}

function startsCommand(field: Field | undefined): boolean {
  if (field?.isKnown !== true) return false;
  const name = basename(field.text);
  return name === 'git' || SHELLS.has(name) || COMMAND_PREFIXES.has(name);
}

function resolveGit(
  command: Field,
  words: readonly Field[],
  stdin: Field | null,
  depth: number,
): readonly Invocation[] {
  const [verb, ...rest] =
    words[0]?.text === 'submodule' ? scanArguments(words.slice(1), { valued: [], stopsAtOperand: true }).operands : [];
  if (verb?.text !== 'foreach') return [{ kind: 'git', command, words }];
  const line = scanArguments(rest, { valued: [], stopsAtOperand: true }).operands;
  return line.length === 1 ? joinedScript(line) : resolve(line, stdin, depth + 1);
}

function resolveShell(args: readonly Field[]): readonly Invocation[] {
  const { options, operands } = scanArguments(args, { valued: SHELL_VALUED_OPTIONS, stopsAtOperand: true });
  const [first, ...others] = operands;
  if (options.has('-c')) {
    // The word after the script is $0.
    return first === undefined
      ? []
      : [{ kind: 'script', script: first, positionals: others.slice(1), runsInSameShell: false }];
  }
  return options.has('-s') || first === undefined ? [{ kind: 'stdin-script' }] : resolveScriptFile(operands, false);
}

function resolveScriptFile([file, ...positionals]: readonly Field[], runsInSameShell: boolean): readonly Invocation[] {
  if (file === undefined) return [];
  if (STDIN_FILES.has(file.text)) return [{ kind: 'stdin-script' }];
  if (file.fileText === null) return [{ kind: 'file-script', file, positionals, runsInSameShell }];
  return [{ kind: 'script', script: derivedField(file.fileText, file.pos), positionals, runsInSameShell }];
}

function embeddedLines(args: readonly Field[], { starts, ends }: CommandMarkers): readonly (readonly Field[])[] {
  const lines: Field[][] = [];
  let open: Field[] | null = null;
  for (const field of args) {
    if (open === null && starts.includes(field.text)) {
      open = [];
      lines.push(open);
    } else if (open !== null && ends.includes(field.text)) open = null;
    else open?.push(field);
  }
  return lines;
}

const joinedScript = (fields: readonly Field[], runsInSameShell = false): readonly Invocation[] => {
  const [first] = fields;
  if (first === undefined) return [];
  const script = fields.length === 1 ? first : derivedField(fields.map(({ text }) => text).join(' '), first.pos);
  return [{ kind: 'script', script, positionals: [], runsInSameShell }];
};

function resolvePrefix(
  prefix: CommandPrefix,
  args: readonly Field[],
  stdin: Field | null,
  depth: number,
): readonly Invocation[] {
  const { valued = [] } = prefix;
  const { options, operands } = scanArguments(args, { valued, stopsAtOperand: true });
  if (hasOption(options, prefix.lookupOptions)) return [];
  if (prefix.commandOptions !== undefined && !hasOption(options, prefix.commandOptions)) {
    const permuted = scanArguments(args, { valued, stopsAtOperand: false });
    return scriptFrom(permuted.options, prefix) ?? [{ kind: 'stdin-script' }];
  }
  const script = scriptFrom(options, prefix, prefix.takesAssignments === true ? operands : []);
  if (script !== null) return script;
  if (prefix.takesScript === true) return joinedScript(operands.slice(0, 1), prefix.runsInSameShell);
  const line = commandLine(prefix, operands);
  if (line.length === 0) return hasOption(options, prefix.shellOptions) ? [{ kind: 'stdin-script' }] : [];
  const lists = line.findIndex(({ text }) => prefix.listMarkers?.includes(text) === true);
  if (lists === 0) return line.slice(1).flatMap((field) => joinedScript([field]));
  if (prefix.joinsScript === true) return joinedScript(line, prefix.runsInSameShell);
  if (prefix.scriptOptions?.includes(line[0]?.text ?? '') === true) return joinedScript(line.slice(1, 2));
  const appended = prefix.appendsStdin === true && stdin !== null ? stdinFields(stdin) : [];
  return resolve([...line, ...appended], stdin, depth + 1);
}

const hasOption = (options: ScannedArguments['options'], names: readonly string[] | undefined): boolean =>
  names?.some((name) => options.has(name)) === true;

/** The script that an option holds, with the words after it; null when no option does. */
function scriptFrom(
  options: ScannedArguments['options'],
  prefix: CommandPrefix,
  following: readonly Field[] = [],
): readonly Invocation[] | null {
  const script = prefix.scriptOptions?.map((name) => options.get(name)).find((value) => value != null);
  return script == null ? null : joinedScript([script, ...following]);
}

function commandLine(prefix: CommandPrefix, operands: readonly Field[]): readonly Field[] {
  if (prefix.findsCommand === true) {
    const found = operands.findIndex(startsCommand);
    return found < 0 ? [] : operands.slice(found);
  }
  // A lone `-` is an option of env(1).
  const start =
    prefix.takesAssignments === true ? operands.findIndex(({ text }) => text !== '-' && !ASSIGNMENT.test(text)) : 0;
  return start < 0 ? [] : operands.slice(start + (prefix.ownOperands ?? 0));
}

const stdinFields = ({ text, pos, isKnown }: Field): readonly Field[] =>
  text.split(/\s+/).flatMap((word) => (word === '' ? [] : [derivedField(word, pos, isKnown)]));
