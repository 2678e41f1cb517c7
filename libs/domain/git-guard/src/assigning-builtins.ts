import type { Field } from './arguments';

// `read` splits its line at these when nobody changed IFS.
const BLANKS = /[ \t]+/;

const NAME = /^[A-Za-z_]\w*$/;

/** A variable and the literal text that a builtin gives it; null: it is not known. */
export type BuiltinAssignment = readonly [name: string, text: string | null];

/** The variables that `printf -v NAME FORMAT ...` and `read NAME...` set. */
export function assignedBy(
  argv: readonly Field[],
  stdin: Field | null,
  print: (args: readonly Field[]) => string | null,
): readonly BuiltinAssignment[] {
  switch (argv[0]?.text) {
    case 'printf':
      return printedInto(argv.slice(1), print);
    case 'read':
      return readInto(argv.slice(1), stdin);
    default:
      return [];
  }
}

function printedInto(
  [option, variable, ...args]: readonly Field[],
  print: (args: readonly Field[]) => string | null,
): readonly BuiltinAssignment[] {
  if (option?.text !== '-v' || variable === undefined) return [];
  const isLiteral = args.every(({ isKnown }) => isKnown);
  return [[variable.text, isLiteral ? print(args) : null]];
}

function readInto(args: readonly Field[], stdin: Field | null): readonly BuiltinAssignment[] {
  const names = args.map(({ text }) => text).filter((text) => NAME.test(text));
  if (stdin?.isKnown !== true) return names.map((name) => [name, null] as const);
  const line = (stdin.text.split('\n', 1)[0] ?? '').trim();
  const words = line.split(BLANKS);
  // The last name gets what is left of the line.
  return names.map((name, i) => [name, i === names.length - 1 ? words.slice(i).join(' ') : (words[i] ?? '')] as const);
}
