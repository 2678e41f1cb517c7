import type { Field } from './arguments';

/** The text of a field, or the part of it that a variable keeps. */
export type Text = Pick<Field, 'text' | 'isKnown'>;

/** A value that a variable may have: one text, or the elements of an array. */
export interface VariableValue {
  readonly texts: readonly Text[];
  readonly isArray: boolean;
}

/**
 * Variables that may hold different values on different paths keep this many of them. Enough for the loops and
 * branches that people write; more only multiplies the work.
 */
export const MAX_ALTERNATIVES = 16;

// A command line is short; a longer value is data, and doubling assignments must not grow without end.
const MAX_VALUE_LENGTH = 4096;

/** The variables with literal values that the script has assigned so far. */
export class ShellScope {
  /** The assignments of the outermost shell and of each branch and shell inside it, the innermost last. */
  private readonly layers: Map<string, readonly VariableValue[]>[] = [new Map<string, readonly VariableValue[]>()];

  /** The values `name` may have here; empty when they are not known. */
  valuesOf(name: string): readonly VariableValue[] {
    return this.layers.findLast((variables) => variables.has(name))?.get(name) ?? [];
  }

  /** Records an assignment; an empty list of values makes the variable unknown. */
  assign(name: string, values: readonly VariableValue[]): void {
    this.layers.at(-1)?.set(name, values.filter(isShort).slice(0, MAX_ALTERNATIVES));
  }

  /** Binds `$@`, `$1`, ... to `args`. */
  bindPositionals(args: readonly Text[]): void {
    for (const [name, value] of positionalsOf(args)) this.assign(name, [value]);
  }

  /** Runs `body` with `$@`, `$1`, ... bound to `args`, and restores the earlier binding. */
  withPositionals(args: readonly Text[], body: () => void): void {
    const earlier = positionalsOf(args).map(([name]) => [name, this.valuesOf(name)] as const);
    this.bindPositionals(args);
    body();
    for (const [name, values] of earlier) this.assign(name, values);
  }

  /** Runs `body` in a shell of its own: it sees the variables of this one, and its assignments end with it. */
  inOwnShell(body: () => void): void {
    this.inLayer(body);
  }

  /** Runs `body` as code that may be skipped: afterwards its assignments and the earlier ones are both possible. */
  inBranch(body: () => void): void {
    for (const [name, values] of this.inLayer(body)) this.assign(name, [...this.valuesOf(name), ...values]);
  }

  private inLayer(body: () => void): ReadonlyMap<string, readonly VariableValue[]> {
    const layer = new Map<string, readonly VariableValue[]>();
    this.layers.push(layer);
    body();
    this.layers.pop();
    return layer;
  }
}

const positionalsOf = (args: readonly Text[]): readonly (readonly [name: string, value: VariableValue])[] => [
  ['@', { texts: args, isArray: true }],
  ['*', { texts: args, isArray: true }],
  ...args.map((text, i) => [String(i + 1), { texts: [text], isArray: false }] as const),
];

const isShort = ({ texts }: VariableValue): boolean =>
  texts.reduce((length, text) => length + text.text.length, 0) <= MAX_VALUE_LENGTH;
