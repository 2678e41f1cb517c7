/** One word of a command line after expansion. */
export interface Field {
  /** The text; what could not be expanded stands in it as the script spells it (`$DIR`). */
  readonly text: string;
  /** False when a part of the text is only known at run time. */
  readonly isKnown: boolean;
  /** Offset of the word in the text it was parsed from. */
  readonly pos: number;
  /** Offset of `text` itself in the text it was parsed from; null when it does not stand there verbatim. */
  readonly textPos: number | null;
  /** What a file named by this word holds, when the word is a process substitution with literal output. */
  readonly fileText: string | null;
}

/** A field that does not stand verbatim in the script. */
export const derivedField = (text: string, pos: number, isKnown = true): Field => ({
  text,
  isKnown,
  pos,
  textPos: null,
  fileText: null,
});

/** The options and operands of one command line, as `getopt_long` would see them. */
export interface ScannedArguments {
  /** Every option by its name with dashes (`-n`, `--list`); the value is null for options that were given none. */
  readonly options: ReadonlyMap<string, Field | null>;
  readonly operands: readonly Field[];
}

export interface ScanRules {
  /** Options that take the next word, or the rest of a short cluster, as their value. */
  readonly valued: readonly string[];
  /** Everything from the first operand on is an operand: the habit of commands that run another command. */
  readonly stopsAtOperand: boolean;
}

type Options = Map<string, Field | null>;

/** Records a long option; true when it takes the next word as its value. */
function scanLongOption(field: Field, valued: readonly string[], options: Options): boolean {
  const equals = field.text.indexOf('=');
  if (equals < 0) {
    options.set(field.text, null);
    return valued.includes(field.text);
  }
  const value = derivedField(field.text.slice(equals + 1), field.pos, field.isKnown);
  options.set(field.text.slice(0, equals), value);
  return false;
}

/** Records the options of `-abc`; the name of the last one when that takes the next word as its value, or null. */
function scanShortCluster(field: Field, valued: readonly string[], options: Options): string | null {
  const { text } = field;
  for (let i = 1; i < text.length; i++) {
    const name = `-${text.charAt(i)}`;
    if (!valued.includes(name)) {
      options.set(name, null);
      continue;
    }
    if (i + 1 === text.length) return name;
    options.set(name, derivedField(text.slice(i + 1), field.pos, field.isKnown));
    return null;
  }
  return null;
}

/** Records the options of one word; the name of the one that takes the next word as its value, or null. */
function scanOption(field: Field, valued: readonly string[], options: Options): string | null {
  if (!field.text.startsWith('--')) return scanShortCluster(field, valued, options);
  return scanLongOption(field, valued, options) ? field.text : null;
}

/** Splits the words after a command name into options and operands. Never fails: an unknown option is an option. */
export function scanArguments(args: readonly Field[], rules: ScanRules): ScannedArguments {
  const options: Options = new Map();
  const operands: Field[] = [];
  for (let i = 0; i < args.length; i++) {
    const field = args[i] as Field;
    const isOperand = !field.text.startsWith('-') || field.text === '-';
    if (field.text === '--') return { options, operands: [...operands, ...args.slice(i + 1)] };
    if (isOperand && rules.stopsAtOperand) return { options, operands: args.slice(i) };
    if (isOperand) {
      operands.push(field);
      continue;
    }
    const waiting = scanOption(field, rules.valued, options);
    if (waiting !== null) options.set(waiting, args[++i] ?? null);
  }
  return { options, operands };
}
