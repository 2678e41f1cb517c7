// Terminal sequences as ECMA-48 defines them: CSI; OSC, DCS, SOS, PM and APC up to their terminator; two-character escapes.
// Made from strings, because a literal with control characters in it looks like a mistake to every linter.
const TERMINAL_SEQUENCE = new RegExp('(?:\\x1b\\[|\\x9b|\\x1b)[0-?]{0,64}[ -/]{0,8}[@-~]', 'g');
// Only with its terminator: an open one must not swallow what a guest wrote after it.
const STRING_SEQUENCE = new RegExp(
  '(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x9c\\n]{0,4096}(?:\\x07|\\x1b\\\\|\\x9c)',
  'g',
);
// Controls but newline; bidirectional overrides and isolates, zero-width and other invisible characters; lone surrogates.
const UNPRINTABLE = /[^\P{C}\n]|[\u2028\u2029\u115f\u1160\u3164\uffa0]/gu;

/**
 * Text of a guest or a model, fit for a terminal: no escape sequence, no control character but newline, nothing
 * invisible and nothing that changes the direction of writing. A lone carriage return becomes a newline, so that no
 * text can be made to overwrite another.
 */
export function printable(text: string): string {
  return text
    .replace(STRING_SEQUENCE, '')
    .replace(TERMINAL_SEQUENCE, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '  ')
    .replace(UNPRINTABLE, '');
}

/** `printable` text on one line: newlines and runs of blanks become one blank. */
export const printableLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim();

// East Asian Wide and Fullwidth blocks and emoji (Unicode TR 11), coarsely: enough to keep columns straight.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const COMBINING = /\p{M}/u;

/** Columns that printable text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += columnsOf(char);
  return width;
}

const columnsOf = (char: string): number => (COMBINING.test(char) ? 0 : WIDE.test(char) ? 2 : 1);

/** `text`, or as much of it as fits into `width` columns with an ellipsis. */
export function clip(text: string, width: number): string {
  let used = 0;
  let kept = '';
  for (const char of text) {
    used += columnsOf(char);
    if (used > width) return clipped(kept);
    kept += char;
  }
  return kept;
}

const clipped = (kept: string): string => `${[...kept].slice(0, -1).join('')}…`;

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)));

/** Breaks at blanks; a word longer than a line is broken anywhere. Existing newlines are kept. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ').flatMap((word) => chunks(word, width))) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (displayWidth(longer) <= width) {
      current = longer;
    } else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}

function chunks(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word];
  const parts: string[] = [];
  let current = '';
  for (const char of word) {
    if (displayWidth(current + char) > width) {
      parts.push(current);
      current = '';
    }
    current += char;
  }
  return [...parts, current];
}
