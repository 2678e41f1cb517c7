import type { BraceExpansionPart, CommandArgument, ParameterExpansionPart, Word, WordPart } from 'unbash';

import { derivedField, type Field } from './arguments';
import { literalOutput } from './literal-output';
import { MAX_ALTERNATIVES, type ShellScope, type Text, type VariableValue } from './shell-scope';
import type { TextBudget } from './text-budget';

/** What a word expands to on one path: none, one or several fields. */
export type Expansion = readonly Field[];

interface Piece {
  readonly texts: readonly Text[];
  /** False for the unquoted expansions, whose text is split at white space. */
  readonly isQuoted: boolean;
}

// Cuts brace bombs (`{a,b}{a,b}{a,b}...`) short.
const MAX_BRACE_FIELDS = 64;

// `${x-word}` and its kin give the word when the variable is not set.
const DEFAULT_OPERATORS: ReadonlySet<string> = new Set(['-', ':-', '=', ':=']);

const WHITE_SPACE = /[ \t\n]+/;

// Not `push(...fields)`: its arguments live on the stack, and a list may be longer than that.
function appendAll(line: Field[], fields: Expansion): void {
  for (const field of fields) line.push(field);
}

/** A word while its parts are glued together. */
class WordDraft {
  private readonly fields: Field[] = [];
  private text = '';
  private isKnown = true;

  /** @param isStarted True when the field exists even when its text stays empty, as `""` and assigned values do. */
  constructor(
    private readonly pos: number,
    private isStarted: boolean,
  ) {}

  fork(): WordDraft {
    const copy = new WordDraft(this.pos, this.isStarted);
    appendAll(copy.fields, this.fields);
    copy.text = this.text;
    copy.isKnown = this.isKnown;
    return copy;
  }

  append({ texts, isQuoted }: Piece): this {
    for (const [i, { text, isKnown }] of texts.entries()) {
      if (i > 0) this.flush();
      for (const [j, chunk] of (isQuoted ? [text] : text.split(WHITE_SPACE)).entries()) {
        if (j > 0) this.flush();
        this.text += chunk;
        this.isKnown &&= isKnown;
        this.isStarted ||= isQuoted || chunk !== '';
      }
    }
    return this;
  }

  finish(): Field[] {
    this.flush();
    return this.fields;
  }

  private flush(): void {
    if (this.isStarted) this.fields.push(derivedField(this.text, this.pos, this.isKnown));
    this.text = '';
    this.isKnown = true;
    this.isStarted = false;
  }
}

/**
 * Adds one of `choices` to every one of `paths`. Forks the paths as long as they stay few; after that the first choice
 * stands for all.
 */
function extendPaths<P, C>(
  paths: P[],
  choices: readonly C[],
  fork: (path: P) => P,
  add: (path: P, choice: C) => void,
): P[] {
  const [first, ...others] = choices;
  if (first === undefined) return paths;
  // Nearly every word has one value; long scripts have many words.
  if (others.length === 0) {
    for (const path of paths) add(path, first);
    return paths;
  }
  const isForked = paths.length * choices.length <= MAX_ALTERNATIVES;
  const forks = isForked ? others.flatMap((choice) => paths.map((path) => ({ path: fork(path), choice }))) : [];
  for (const path of paths) add(path, first);
  for (const { path, choice } of forks) add(path, choice);
  return [...paths, ...forks.map(({ path }) => path)];
}

/** Expands words as far as their values are literal in the script. Never runs or guesses anything. */
export class WordExpander {
  constructor(
    private readonly scope: ShellScope,
    private readonly budget: TextBudget,
  ) {}

  /** Every combination of the alternatives of `words`, at most `MAX_ALTERNATIVES` of them. */
  expandCommand(words: readonly CommandArgument[]): readonly Expansion[] {
    let lines: Field[][] = [[]];
    for (const word of words) {
      lines = extendPaths(lines, this.expandArgument(word), (line) => [...line], appendAll);
    }
    return lines;
  }

  /** The values that a variable may have after `name=word`; those that are not known are left out. */
  valuesOf(word: Word): readonly VariableValue[] {
    const lines = this.expandParts(word.parts, word, true);
    return lines.flatMap(([field]) => (field?.isKnown === true ? [{ texts: [field], isArray: false }] : []));
  }

  /** The alternatives of one word. */
  expandWord(word: Word): readonly Expansion[] {
    if (word.parts?.some((part) => part.type === 'BraceExpansion')) return [expandBraces(word, word.parts)];
    return this.expandParts(word.parts, word, false);
  }

  private expandArgument(argument: CommandArgument): readonly Expansion[] {
    if (argument.type === 'Word') return this.expandWord(argument);
    return [[{ text: argument.text, isKnown: true, pos: argument.pos, textPos: argument.pos, fileText: null }]];
  }

  private expandParts(parts: readonly WordPart[] | undefined, word: Word, isAssignment: boolean): readonly Expansion[] {
    if (parts === undefined) return [[this.literalField(word)]];
    let drafts = [new WordDraft(word.pos, isAssignment)];
    for (const { part, isQuoted } of quotedParts(parts, isAssignment)) {
      const pieces = this.piecesOf(part, isQuoted);
      drafts = extendPaths(
        drafts,
        pieces,
        (draft) => draft.fork(),
        (draft, piece) => void draft.append(piece),
      );
    }
    const fields = drafts.map((draft) => draft.finish());
    return word.parts?.length === 1 ? fields.map((line) => line.map((field) => this.locate(field, word))) : fields;
  }

  private literalField(word: Word): Field {
    const textPos = word.text === word.value ? word.pos : null;
    return { text: word.value, isKnown: true, pos: word.pos, textPos, fileText: null };
  }

  /** Adds what only a word of one part tells about its field. */
  private locate(field: Field, { parts: [part] = [], text, pos }: Word): Field {
    if (part?.type === 'ProcessSubstitution') {
      return { ...field, fileText: literalOutput(part.script, this)?.text ?? null };
    }
    const at = part?.type === 'SingleQuoted' || part?.type === 'DoubleQuoted' ? text.indexOf(field.text) : -1;
    return { ...field, textPos: at < 0 ? null : pos + at };
  }

  private piecesOf(part: WordPart, isQuoted: boolean): readonly Piece[] {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
      case 'Glob':
        return [{ texts: [{ text: part.value, isKnown: true }], isQuoted: true }];
      case 'SimpleExpansion':
        return this.variablePieces(part.text.slice(1), part.text, isQuoted);
      case 'ParameterExpansion':
        return this.parameterPieces(part, isQuoted);
      case 'CommandExpansion': {
        const output = literalOutput(part.script, this);
        if (output === null) return [unknownPiece(part.text)];
        return [{ texts: [{ text: withoutTrailingNewlines(output.text), isKnown: output.isKnown }], isQuoted }];
      }
      default:
        return [unknownPiece(part.text)];
    }
  }

  private parameterPieces(part: ParameterExpansionPart, isQuoted: boolean): readonly Piece[] {
    const isWhole = part.index === undefined || ['@', '*'].includes(part.index.value);
    if (part.prefix !== undefined || !isWhole) return [unknownPiece(part.text)];
    const { operation } = part;
    if (operation === undefined) return this.variablePieces(part.parameter, part.text, isQuoted);
    if (operation.type !== 'Default' || !DEFAULT_OPERATORS.has(operation.operator)) return [unknownPiece(part.text)];
    if (this.scope.valuesOf(part.parameter).length > 0) return this.variablePieces(part.parameter, part.text, isQuoted);
    const values = this.valuesOf(operation.operand);
    return values.length === 0 ? [unknownPiece(part.text)] : values.map(({ texts }) => ({ texts, isQuoted }));
  }

  private variablePieces(name: string, source: string, isQuoted: boolean): readonly Piece[] {
    const values = this.scope.valuesOf(name);
    const length = values.flatMap(({ texts }) => texts).reduce((sum, { text }) => sum + text.length, 0);
    if (values.length === 0 || !this.budget.spend(length)) return [unknownPiece(source)];
    return values.map(({ texts, isArray }) => ({ texts, isQuoted: isQuoted || isArray }));
  }
}

const unknownPiece = (source: string): Piece => ({ texts: [{ text: source, isKnown: false }], isQuoted: true });

// Not a regular expression: `/\n+$/` is quadratic on long runs of newlines.
function withoutTrailingNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '\n') end--;
  return text.slice(0, end);
}

function* quotedParts(
  parts: readonly WordPart[],
  isQuoted: boolean,
): Generator<{ readonly part: WordPart; readonly isQuoted: boolean }> {
  for (const part of parts) {
    if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') yield { part, isQuoted };
    else yield* quotedParts(part.parts, true);
  }
}

/** `{git,add}` gives two fields. Words that mix braces with quotes or variables stay unknown. */
function expandBraces(word: Word, parts: readonly WordPart[]): Expansion {
  let texts: readonly string[] = [''];
  for (const part of parts) {
    const items = part.type === 'BraceExpansion' ? braceItems(part) : part.type === 'Literal' ? [part.value] : null;
    const isTooMany = items !== null && texts.length * items.length > MAX_BRACE_FIELDS;
    if (items === null || isTooMany) return [derivedField(word.text, word.pos, false)];
    texts = texts.flatMap((text) => items.map((item) => text + item));
  }
  return texts.filter((text) => text !== '').map((text) => derivedField(text, word.pos));
}

function braceItems(part: BraceExpansionPart): readonly string[] | null {
  const inner = part.text.slice(1, -1);
  const isPlain = /^[^{}"'$`\\]*$/.test(inner) && inner.includes(',');
  return isPlain ? inner.split(',') : null;
}
