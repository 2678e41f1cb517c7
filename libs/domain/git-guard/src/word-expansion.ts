import type {
  BraceExpansionPart,
  CommandArgument,
  DoubleQuotedPart,
  ParameterOperation,
  ParameterExpansionPart,
  ProcessSubstitutionPart,
  Word,
  WordPart,
} from 'unbash';

import { derivedField, type Field } from './arguments';
import { literalOutput } from './literal-output';
import { slicedList, transformedText } from './parameter-operations';
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

// Set in every shell that people start: POSIX, and login(1).
const ALWAYS_SET: ReadonlySet<string> = new Set([
  '0',
  '#',
  '?',
  '$',
  '-',
  'HOME',
  'IFS',
  'PATH',
  'PWD',
  'SHELL',
  'USER',
]);

// A word of more variables, substitutions and quotations is no command that anybody wrote.
const MAX_PARTS = 256;

// `${x-word}` and its kin give the word when the variable is not set.
const DEFAULT_OPERATORS: ReadonlySet<string> = new Set(['-', ':-', '=', ':=']);

const WHITE_SPACE = /[ \t\n]+/;

const WHOLE_VARIABLE = /^\$[A-Za-z_]\w*$/;

const SPECIAL_IN_DOUBLE_QUOTES = /[$`\\]/;

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
    for (let i = 0; i < texts.length; i++) {
      const { text, isKnown } = texts[i] as Text;
      if (i > 0) this.flush();
      if (isQuoted) this.appendChunk(text, isKnown, true);
      else this.appendSplit(text, isKnown);
    }
    return this;
  }

  private appendSplit(text: string, isKnown: boolean): void {
    for (const [i, chunk] of text.split(WHITE_SPACE).entries()) {
      if (i > 0) this.flush();
      this.appendChunk(chunk, isKnown, chunk !== '');
    }
  }

  private appendChunk(chunk: string, isKnown: boolean, starts: boolean): void {
    this.text += chunk;
    this.isKnown &&= isKnown;
    this.isStarted ||= starts;
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
  const [first] = choices;
  if (first === undefined) return paths;
  // Nearly every word has one value; long scripts have many words.
  if (choices.length === 1) {
    for (const path of paths) add(path, first);
    return paths;
  }
  const isForked = paths.length * choices.length <= MAX_ALTERNATIVES;
  const forks = isForked
    ? choices.slice(1).flatMap((choice) => paths.map((path) => ({ path: fork(path), choice })))
    : [];
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
  expandCommand(words: readonly CommandArgument[], name?: Word): readonly Expansion[] {
    let lines: Field[][] = [[]];
    if (name !== undefined) lines = this.extendLines(lines, name);
    for (const word of words) lines = this.extendLines(lines, word);
    return lines;
  }

  private extendLines(lines: Field[][], word: CommandArgument): Field[][] {
    const literal = literalField(word);
    if (literal === null) return extendPaths(lines, this.expandArgument(word), forkLine, appendAll);
    for (const line of lines) line.push(literal);
    return lines;
  }

  /** The values that a variable may have after `name=word`; those that are not known are left out. */
  valuesOf(word: Word): readonly VariableValue[] {
    const lines = this.expandParts(word.parts, word, true);
    return lines.flatMap(([field]) => (field?.isKnown === true ? [{ texts: [field], isArray: false }] : []));
  }

  /** The alternatives of one word. */
  expandWord(word: Word): readonly Expansion[] {
    // Told by its text alone: asking for the parts of a word makes the parser read it again.
    if (WHOLE_VARIABLE.test(word.text)) return this.expandVariable(word);
    if (word.parts?.some((part) => part.type === 'BraceExpansion')) return [expandBraces(word, word.parts)];
    return this.expandParts(word.parts, word, false);
  }

  private expandVariable({ text, pos }: Word): readonly Expansion[] {
    const pieces = this.variablePieces(text.slice(1), text, false);
    return pieces.map((piece) => new WordDraft(pos, false).append(piece).finish());
  }

  private expandArgument(argument: CommandArgument): readonly Expansion[] {
    if (argument.type === 'Word') return this.expandWord(argument);
    return [[{ text: argument.text, isKnown: true, pos: argument.pos, textPos: argument.pos, fileText: null }]];
  }

  private expandParts(parts: readonly WordPart[] | undefined, word: Word, isAssignment: boolean): readonly Expansion[] {
    const literal = literalField(word);
    if (literal !== null) return [[literal]];
    if (parts === undefined) return [];
    if (parts.length > MAX_PARTS) return [[derivedField(word.text, word.pos, false)]];
    const drafts = this.extendDrafts([new WordDraft(word.pos, isAssignment)], parts, isAssignment);
    const fields = drafts.map((draft) => draft.finish());
    const [part] = parts;
    const isWhole = parts.length === 1 && (part?.type === 'ProcessSubstitution' || part?.type === 'DoubleQuoted');
    return isWhole ? fields.map((line) => line.map((field) => this.locate(field, part, word))) : fields;
  }

  private extendDrafts(drafts: WordDraft[], parts: readonly WordPart[], isQuoted: boolean): WordDraft[] {
    let extended = drafts;
    for (const part of parts) {
      extended =
        part.type === 'DoubleQuoted' || part.type === 'LocaleString'
          ? this.extendDrafts(extended, part.parts, true)
          : extendPaths(extended, this.piecesOf(part, isQuoted), forkDraft, appendPiece);
    }
    return extended;
  }

  /** Adds what only a word of one part tells about its field. */
  private locate(field: Field, part: ProcessSubstitutionPart | DoubleQuotedPart, { text, pos }: Word): Field {
    if (part.type === 'ProcessSubstitution') {
      return { ...field, fileText: literalOutput(part.script, this)?.text ?? null };
    }
    const at = text.indexOf(field.text);
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
    const values = this.parameterValues(part);
    if (values.length === 0 || !this.budget.spend(lengthOf(values))) return [unknownPiece(part.text)];
    return values.map(({ texts, isArray }) => ({ texts, isQuoted: isQuoted || isArray }));
  }

  /** The values of `${...}`; empty when they are not known. */
  private parameterValues({ parameter, prefix, index, operation }: ParameterExpansionPart): readonly VariableValue[] {
    if (prefix === '#') return [];
    const named = this.scope.valuesOf(parameter);
    const values = index === undefined ? named : elementsOf(named, index);
    const direct =
      prefix === '!' ? values.flatMap(({ texts: [name] }) => this.scope.valuesOf(name?.text ?? '')) : values;
    if (operation === undefined) return direct;
    if (operation.type !== 'Default') return direct.flatMap((value) => transformed(value, operation, parameter));
    const isSet = direct.length > 0 || ALWAYS_SET.has(parameter);
    if (DEFAULT_OPERATORS.has(operation.operator)) return isSet ? direct : this.valuesOf(operation.operand);
    // `${x+word}` gives the word when the variable is set.
    return isSet && operation.operator.endsWith('+') ? this.valuesOf(operation.operand) : [];
  }

  private variablePieces(name: string, source: string, isQuoted: boolean): readonly Piece[] {
    const values = this.scope.valuesOf(name);
    if (values.length === 0 || !this.budget.spend(lengthOf(values))) return [unknownPiece(source)];
    return values.map(({ texts, isArray }) => ({ texts, isQuoted: isQuoted || isArray }));
  }
}

/** The elements that an index picks of the values of an array. */
function elementsOf(values: readonly VariableValue[], { value: index }: Word): readonly VariableValue[] {
  if (index === '@' || index === '*') return values;
  if (!/^\d{1,6}$/.test(index)) return [];
  return values.flatMap(({ texts }) => {
    const text = texts[Number(index)];
    return text === undefined ? [] : [{ texts: [text], isArray: false }];
  });
}

function transformed(value: VariableValue, operation: ParameterOperation, parameter: string): readonly VariableValue[] {
  if (value.isArray) {
    const texts = slicedList(value.texts, operation, parameter === '@' || parameter === '*' ? 1 : 0);
    return texts === null ? [] : [{ texts, isArray: true }];
  }
  const texts = value.texts.map(({ text, isKnown }) => ({ text: transformedText(text, operation) ?? '', isKnown }));
  return value.texts.every(({ text }) => transformedText(text, operation) !== null) ? [{ texts, isArray: false }] : [];
}

function lengthOf(values: readonly VariableValue[]): number {
  let length = 0;
  for (const { texts } of values) for (const { text } of texts) length += text.length;
  return length;
}

const unknownPiece = (source: string): Piece => ({ texts: [{ text: source, isKnown: false }], isQuoted: true });

// Not a regular expression: `/\n+$/` is quadratic on long runs of newlines.
function withoutTrailingNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '\n') end--;
  return text.slice(0, end);
}

/** The field of a word that is all literal, which nearly all words are; null for any other. */
function literalField(word: CommandArgument): Field | null {
  if (word.type !== 'Word') return null;
  const { text, pos } = word;
  // Told by its text alone here, too.
  if (isOneQuotation(text)) return { text: text.slice(1, -1), isKnown: true, pos, textPos: pos + 1, fileText: null };
  if (word.parts !== undefined) return null;
  return { text: word.value, isKnown: true, pos, textPos: text === word.value ? pos : null, fileText: null };
}

/** True for `'...'`, and for `"..."` without anything that is special inside. */
function isOneQuotation(text: string): boolean {
  const quote = text.charAt(0);
  if (quote !== "'" && quote !== '"') return false;
  if (text.length < 2 || text.indexOf(quote, 1) !== text.length - 1) return false;
  return quote === "'" || !SPECIAL_IN_DOUBLE_QUOTES.test(text);
}

const forkLine = (line: Field[]): Field[] => [...line];
const forkDraft = (draft: WordDraft): WordDraft => draft.fork();
const appendPiece = (draft: WordDraft, piece: Piece): void => void draft.append(piece);

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
