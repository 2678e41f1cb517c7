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
  readonly valued: ReadonlySet<string>;
  /** Everything from the first operand on is an operand: the habit of commands that run another command. */
  readonly stopsAtOperand: boolean;
}

interface ScannedOption {
  readonly name: string;
  readonly value: Field | null;
  readonly takesNext: boolean;
}

function scanLongOption(field: Field, valued: ReadonlySet<string>): ScannedOption {
  const equals = field.text.indexOf('=');
  if (equals < 0) return { name: field.text, value: null, takesNext: valued.has(field.text) };
  const value = derivedField(field.text.slice(equals + 1), field.pos, field.isKnown);
  return { name: field.text.slice(0, equals), value, takesNext: false };
}

function* scanShortCluster(field: Field, valued: ReadonlySet<string>): Generator<ScannedOption> {
  for (let i = 1; i < field.text.length; i++) {
    const name = `-${field.text.charAt(i)}`;
    if (!valued.has(name)) {
      yield { name, value: null, takesNext: false };
      continue;
    }
    const rest = field.text.slice(i + 1);
    const value = rest === '' ? null : derivedField(rest, field.pos, field.isKnown);
    yield { name, value, takesNext: value === null };
    return;
  }
}

const scanOption = (field: Field, valued: ReadonlySet<string>): Iterable<ScannedOption> =>
  field.text.startsWith('--') ? [scanLongOption(field, valued)] : scanShortCluster(field, valued);

/** Splits the words after a command name into options and operands. Never fails: an unknown option is an option. */
export function scanArguments(args: readonly Field[], rules: ScanRules): ScannedArguments {
  const options = new Map<string, Field | null>();
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
    for (const option of scanOption(field, rules.valued)) {
      if (option.takesNext) i++;
      options.set(option.name, option.takesNext ? (args[i] ?? null) : option.value);
    }
  }
  return { options, operands };
}
