import type { ParameterOperation, Word } from 'unbash';

import type { Text } from './shell-scope';

// `*`, `?` and `[` make a pattern of what is otherwise the text itself.
const PATTERN_SIGN = /[*?[]/;

/** The text of an operand that is literal and no pattern; null for any other. */
function literalOperand(word: Word | undefined): string | null {
  if (word === undefined || word.parts !== undefined || PATTERN_SIGN.test(word.value)) return null;
  return word.value;
}

function replaced(text: string, operator: string, pattern: string, replacement: string): string {
  if (pattern === '') return text;
  switch (operator) {
    case '//':
      return text.replaceAll(pattern, () => replacement);
    case '/#':
      return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
    case '/%':
      return text.endsWith(pattern) ? text.slice(0, -pattern.length) + replacement : text;
    default:
      return text.replace(pattern, () => replacement);
  }
}

function inCase(text: string, operator: '^' | '^^' | ',' | ',,'): string {
  const end = operator.length === 1 ? 1 : text.length;
  const changed = operator.startsWith('^') ? text.slice(0, end).toUpperCase() : text.slice(0, end).toLowerCase();
  return changed + text.slice(end);
}

/** The window of `${x:offset:length}`, for a value of `size`; null when it is not literal. */
function windowOf(offset: Word, length: Word | undefined, size: number): readonly [start: number, end: number] | null {
  const from = Number(literalOperand(offset)?.trim() || NaN);
  const count = length === undefined ? size : Number(literalOperand(length)?.trim() || NaN);
  if (!Number.isInteger(from) || !Number.isInteger(count)) return null;
  const start = from < 0 ? Math.max(0, size + from) : from;
  return [start, count < 0 ? size + count : start + count];
}

/** What `${x<operation>}` makes of the text of a variable; null when that depends on more than literal text. */
export function transformedText(text: string, operation: ParameterOperation): string | null {
  switch (operation.type) {
    case 'Remove': {
      const affix = literalOperand(operation.operand);
      if (affix === null) return null;
      if (operation.operator.startsWith('#')) return text.startsWith(affix) ? text.slice(affix.length) : text;
      return affix !== '' && text.endsWith(affix) ? text.slice(0, -affix.length) : text;
    }
    case 'Replace': {
      const [pattern, replacement] = [literalOperand(operation.pattern), literalOperand(operation.replacement)];
      return pattern === null || replacement === null ? null : replaced(text, operation.operator, pattern, replacement);
    }
    case 'CaseModification':
      return operation.operand === undefined ? inCase(text, operation.operator) : null;
    case 'Slice': {
      const window = windowOf(operation.offset, operation.length, text.length);
      return window === null ? null : text.slice(...window);
    }
    default:
      return null;
  }
}

/** What `${@<operation>}` and `${a[@]<operation>}` leave of a list; null when it is not a literal slice. */
export function slicedList(
  texts: readonly Text[],
  operation: ParameterOperation,
  first: 0 | 1,
): readonly Text[] | null {
  if (operation.type !== 'Slice') return null;
  // `$@` counts from 1; `${@:0}` has the name of the shell in front, which is no argument.
  const window = windowOf(operation.offset, operation.length, texts.length + first);
  return window === null ? null : texts.slice(Math.max(0, window[0] - first), Math.max(0, window[1] - first));
}
