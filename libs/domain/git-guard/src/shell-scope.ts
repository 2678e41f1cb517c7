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

type Values = readonly VariableValue[];

// Nothing is known of most variables, and most scripts are given no arguments: one object for all of them.
const UNKNOWN: Values = [];
const NO_ARGUMENTS: Values = [{ texts: [], isArray: true }];

/** The variables with literal values that the script has assigned so far. */
export class ShellScope {
  /**
   * The assignments of the outermost shell and of each branch and shell inside it, the innermost last; null for one
   * without any.
   */
  private readonly layers: (Map<string, Values> | null)[] = [null];

  /** The values `name` may have here; empty when they are not known. */
  valuesOf(name: string): Values {
    for (let i = this.layers.length - 1; i >= 0; i--) {
      const values = this.layers[i]?.get(name);
      if (values !== undefined) return values;
    }
    return UNKNOWN;
  }

  /** Records an assignment; an empty list of values makes the variable unknown. */
  assign(name: string, values: Values): void {
    const isKeptWhole = values.length <= MAX_ALTERNATIVES && values.every(isShort);
    const kept = isKeptWhole ? values : values.filter(isShort).slice(0, MAX_ALTERNATIVES);
    const last = this.layers.length - 1;
    (this.layers[last] ??= new Map()).set(name, kept);
  }

  /** Binds `$@`, `$1`, ... to `args`. */
  bindPositionals(args: readonly Text[]): void {
    const all = args.length === 0 ? NO_ARGUMENTS : [{ texts: args, isArray: true }];
    this.assign('@', all);
    this.assign('*', all);
    for (const [i, text] of args.entries()) this.assign(String(i + 1), [{ texts: [text], isArray: false }]);
  }

  /** Runs `body` with `$@`, `$1`, ... bound to `args`, and restores the earlier binding. */
  withPositionals(args: readonly Text[], body: () => void): void {
    const names = ['@', '*', ...args.map((_, i) => String(i + 1))];
    const earlier = names.map((name) => this.valuesOf(name));
    this.bindPositionals(args);
    body();
    for (const [i, name] of names.entries()) this.assign(name, earlier[i] ?? UNKNOWN);
  }

  /**
   * Runs `body` in a shell of its own, with `$@`, `$1`, ... bound to `args`: it sees the variables of this one, and its
   * assignments end with it.
   */
  inOwnShell(args: readonly Text[], body: () => void): void {
    this.inLayer(() => {
      this.bindPositionals(args);
      body();
    });
  }

  /** Runs `body` as code that may be skipped: afterwards its assignments and the earlier ones are both possible. */
  inBranch(body: () => void): void {
    const layer = this.inLayer(body);
    if (layer === null) return;
    for (const [name, values] of layer) this.assign(name, [...this.valuesOf(name), ...values]);
  }

  private inLayer(body: () => void): ReadonlyMap<string, Values> | null {
    this.layers.push(null);
    body();
    return this.layers.pop() ?? null;
  }
}

function isShort({ texts }: VariableValue): boolean {
  let length = 0;
  for (const { text } of texts) length += text.length;
  return length <= MAX_VALUE_LENGTH;
}
