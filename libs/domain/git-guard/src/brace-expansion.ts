import type { BraceExpansionPart, Word, WordPart } from 'unbash';

import { derivedField, type Field } from './arguments';

// Cuts brace bombs (`{a,b}{a,b}{a,b}...`) short.
const MAX_BRACE_FIELDS = 64;

/** `{git,add}` gives two fields. Words that mix braces with quotes or variables stay unknown. */
export function expandBraces(word: Word, parts: readonly WordPart[]): readonly Field[] {
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
