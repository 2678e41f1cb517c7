import type { Assignment, Command, SyntaxNode, Word } from 'unbash';

import { MAX_ALTERNATIVES, type ShellScope, type VariableValue } from './shell-scope';
import type { WordExpander } from './word-expansion';

/** Records what the assignments of a script give to its variables and aliases. */
export class Assignments {
  constructor(
    private readonly scope: ShellScope,
    private readonly words: WordExpander,
  ) {}

  /** Every assignment among the nodes. */
  assignAll(nodes: readonly SyntaxNode[]): void {
    for (const node of nodes) if (node.type === 'Assignment') this.assign(node);
  }

  private assign({ name, value, append }: Assignment): void {
    if (value.type === 'ArrayValue') {
      const arrays = this.words.expandCommand(value.elements).map((texts) => ({ texts, isArray: true }));
      const before = append === true ? this.scope.valuesOf(name)[0] : undefined;
      const appended = arrays.map(({ texts }) => ({ texts: [...(before?.texts ?? []), ...texts], isArray: true }));
      return this.scope.assign(name, appended);
    }
    const values = this.words.valuesOf(value);
    const earlier = append === true ? this.scope.valuesOf(name) : [];
    this.scope.assign(name, earlier.length === 0 ? values : appendedValues(earlier, values));
  }

  /** Adds what `alias NAME=TEXT ...` defines to `aliases`. */
  defineAliases(args: Command['args'], aliases: Map<string, string>): void {
    for (const argument of args) {
      if (argument.type !== 'Assignment' || argument.value.type !== 'Word') continue;
      const [value] = this.words.valuesOf(argument.value);
      if (value !== undefined) aliases.set(argument.name, textOf(value));
    }
  }

  /** The values that a loop over the words gives its variable, as many as are kept. */
  valuesIn(wordlist: readonly Word[]): readonly VariableValue[] {
    const values: VariableValue[] = [];
    for (const word of wordlist) {
      for (const item of this.words.expandWord(word).flat()) {
        if (item.isKnown) values.push({ texts: [item], isArray: false });
      }
      if (values.length >= MAX_ALTERNATIVES) break;
    }
    return values;
  }
}

const textOf = ({ texts }: VariableValue): string => texts.map(({ text }) => text).join(' ');

const appendedValues = (earlier: readonly VariableValue[], added: readonly VariableValue[]): readonly VariableValue[] =>
  earlier.flatMap((old) =>
    added.map((value) => ({ texts: [{ text: textOf(old) + textOf(value), isKnown: true }], isArray: false })),
  );
