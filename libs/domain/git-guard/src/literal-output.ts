import type { Command, CompoundList, HereDoc, Redirection, Script, SyntaxNode, Word } from 'unbash';

import { derivedField, type Field } from './arguments';
import { MAX_SCRIPT_LENGTH } from './text-budget';

/** The part of the word expander that this file needs; the expander itself asks for the output of substitutions. */
export interface CommandExpansion {
  expandCommand(words: Command['args'], name?: Word): readonly (readonly Field[])[];
  expandWord(word: Word): readonly (readonly Field[])[];
}

// The only escapes of printf(1) that matter for the structure of a script.
const PRINTF_ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\', '"': '"' };

/** The commands whose output is looked at. */
const PRINTERS: ReadonlySet<string> = new Set([
  'echo',
  'printf',
  'cat',
  'tee',
  'which',
  'type',
  'command',
  'readlink',
  'realpath',
]);

const isStdin = (redirect: Redirection): boolean =>
  redirect.descriptor === undefined ||
  (redirect.descriptor.type === 'FileDescriptor' && redirect.descriptor.value === 0);

function hereDocField({ body, delimiter, pos }: HereDoc): Field {
  // Expansions stay as they are written; only the escapes of an unquoted heredoc are undone.
  const text = delimiter?.quoted === true ? body.text : body.text.replace(/\\([$`\\])/g, '$1');
  return { ...derivedField(text, pos), textPos: text === body.text ? body.pos : null };
}

/** What the redirections put on standard input; null when that is not literal, undefined when they leave it alone. */
export function redirectedInput(redirects: readonly Redirection[], words: CommandExpansion): Field | null | undefined {
  const redirect = redirects.filter((r) => r.operator.startsWith('<') && r.operator !== '<&' && isStdin(r)).at(-1);
  if (redirect === undefined) return undefined;
  if (redirect.type === 'HereDoc') return hereDocField(redirect);
  const [field] = redirect.target === undefined ? [] : (words.expandWord(redirect.target)[0] ?? []);
  if (field === undefined || redirect.type === 'HereString') return field ?? null;
  return field.fileText === null ? null : derivedField(field.fileText, field.pos);
}

/**
 * What a command prints, when its text is literal in the script: echo, printf, cat of a heredoc, and the lookups of
 * git's own path. Null for everything else.
 */
export function literalOutput(
  node: SyntaxNode | undefined,
  words: CommandExpansion,
  stdin: Field | null = null,
): Field | null {
  switch (node?.type) {
    case 'Script':
    case 'CompoundList':
      return joinOutputs(node, words, stdin);
    case 'Subshell':
    case 'BraceGroup':
      return literalOutput(node.body, words, stdin);
    case 'Pipeline':
      return node.commands.reduce<Field | null>((input, stage) => literalOutput(stage, words, input), stdin);
    case 'Command':
      return commandOutput(node, words, stdin);
    default:
      return null;
  }
}

function joinOutputs(list: Script | CompoundList, words: CommandExpansion, stdin: Field | null): Field | null {
  const outputs: Field[] = [];
  for (const { command } of list.commands) {
    const output = literalOutput(command, words, stdin);
    if (output === null) return null;
    outputs.push(output);
  }
  return outputs.length === 1 ? (outputs[0] ?? null) : derivedField(outputs.map(({ text }) => text).join(''), list.pos);
}

function commandOutput(command: Command, words: CommandExpansion, stdin: Field | null): Field | null {
  if (command.name === undefined) return null;
  // Most commands are none of these, and their words need no expansion to see that.
  if (command.name.parts === undefined && !PRINTERS.has(command.name.value)) return null;
  const [name, ...args] = words.expandCommand(command.args, command.name)[0] ?? [];
  if (name?.isKnown !== true) return null;
  const texts = args.map(({ text }) => text);
  const print = (text: string): Field =>
    derivedField(
      text,
      command.pos,
      args.every(({ isKnown }) => isKnown),
    );
  switch (name.text) {
    case 'echo':
      return print(echoed(texts));
    case 'printf': {
      const output = formatPrintf(texts);
      return output === null ? null : print(output);
    }
    case 'cat':
    case 'tee': {
      const input = redirectedInput(command.redirects, words);
      const copiesInput = name.text === 'tee' || texts.every((text) => text === '-');
      return copiesInput ? (input === undefined ? stdin : input) : null;
    }
    case 'which':
    case 'type':
    case 'command':
      return isGitLookup(name.text, texts) ? print('git\n') : null;
    case 'readlink':
    case 'realpath':
      return /(?:^|\/)git$/.test(texts.at(-1) ?? '') ? print('git\n') : null;
    default:
      return null;
  }
}

// `command git` runs it; `command -v git`, `type -p git` and `which git` print where it is.
const isGitLookup = (name: string, texts: readonly string[]): boolean =>
  texts.at(-1) === 'git' && (name === 'which' || /^-[vpP]$/.test(texts[0] ?? ''));

function echoed(texts: readonly string[]): string {
  const first = texts.findIndex((text) => !/^-[neE]+$/.test(text));
  const options = first < 0 ? texts : texts.slice(0, first);
  const line = `${texts.slice(options.length).join(' ')}\n`;
  if (!options.some((option) => option.includes('e'))) return line;
  return line.replace(/\\(.)/gs, (match, escaped: string) => PRINTF_ESCAPES[escaped] ?? match);
}

/** What printf(1) prints; null when it is too long to be a script. */
export function formatPrintf([format = '', ...args]: readonly string[]): string | null {
  const values = args.values();
  let usedCount = 0;
  const nextValue = (): string => {
    usedCount++;
    return values.next().value ?? '';
  };
  let output = '';
  // printf repeats its format until the arguments are used up.
  do {
    const usedBefore = usedCount;
    output += format.replace(/\\(.)|%[sb]/gs, (match, escaped: string | undefined) =>
      escaped === undefined ? nextValue() : (PRINTF_ESCAPES[escaped] ?? match),
    );
    if (usedCount === usedBefore) break;
    if (output.length > MAX_SCRIPT_LENGTH) return null;
  } while (usedCount < args.length);
  return output;
}
