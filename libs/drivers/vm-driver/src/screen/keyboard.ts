import { vmDriverError } from '../errors';

/** Keys that are held down together: modifiers first, in the order in which they go down. QEMU key codes such as `ret`. */
export type KeyStroke = readonly string[];

/** Longest text that is typed at once. */
export const TYPED_TEXT_MAX_CHARS = 1024;
/** More keys at once have no meaning to anybody. */
const COMBINATION_MAX_KEYS = 5;

const SHIFT = 'shift';

/** Characters of the US layout that need no shift, and their keys (`QKeyCode` of QEMU's qapi/ui.json). */
const PLAIN: Readonly<Record<string, string>> = {
  ' ': 'spc',
  '\n': 'ret',
  '\t': 'tab',
  '-': 'minus',
  '=': 'equal',
  '[': 'bracket_left',
  ']': 'bracket_right',
  '\\': 'backslash',
  ';': 'semicolon',
  "'": 'apostrophe',
  '`': 'grave_accent',
  ',': 'comma',
  '.': 'dot',
  '/': 'slash',
};

/** Characters of the US layout that need shift, and the character on the same key that does not. */
const SHIFTED: Readonly<Record<string, string>> = {
  '!': '1',
  '@': '2',
  '#': '3',
  $: '4',
  '%': '5',
  '^': '6',
  '&': '7',
  '*': '8',
  '(': '9',
  ')': '0',
  _: '-',
  '+': '=',
  '{': '[',
  '}': ']',
  '|': '\\',
  ':': ';',
  '"': "'",
  '~': '`',
  '<': ',',
  '>': '.',
  '?': '/',
};

/** What people call keys that have no character of their own. */
const NAMED: Readonly<Record<string, string>> = {
  ctrl: 'ctrl',
  alt: 'alt',
  shift: SHIFT,
  super: 'meta_l',
  altgr: 'alt_r',
  enter: 'ret',
  escape: 'esc',
  tab: 'tab',
  space: 'spc',
  backspace: 'backspace',
  delete: 'delete',
  insert: 'insert',
  home: 'home',
  end: 'end',
  pageup: 'pgup',
  pagedown: 'pgdn',
  up: 'up',
  down: 'down',
  left: 'left',
  right: 'right',
  capslock: 'caps_lock',
  print: 'print',
  menu: 'menu',
  plus: 'equal',
  ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at + 1}`, `f${at + 1}`])),
};

/**
 * The strokes that type a text on a US keyboard; `\n` is the Enter key. Throws `VM_INPUT_INVALID` for a text that is
 * longer than `TYPED_TEXT_MAX_CHARS`, or has a character that the keyboard does not have.
 */
export function strokesOfText(text: string): readonly KeyStroke[] {
  if (text.length > TYPED_TEXT_MAX_CHARS) {
    throw vmDriverError(
      'VM_INPUT_INVALID',
      `the text has ${text.length} characters; at most ${TYPED_TEXT_MAX_CHARS} are typed at once`,
      { chars: text.length },
    );
  }
  return Array.from(text, (character) => {
    const stroke = strokeOf(character);
    if (stroke !== null) return stroke;
    const name = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    throw vmDriverError('VM_INPUT_INVALID', `the keyboard has no key for the character ${name}`, { character: name });
  });
}

/**
 * The stroke of a combination such as `ctrl+alt+delete`, `shift+f5` or `a`: names of keys or characters, with `+`
 * between them. Throws `VM_INPUT_INVALID`, naming the part that is no key.
 */
export function strokeOfCombination(combination: string): KeyStroke {
  const parts = combination.split('+');
  if (parts.length > COMBINATION_MAX_KEYS) {
    throw vmDriverError('VM_INPUT_INVALID', `a combination has at most ${COMBINATION_MAX_KEYS} keys`);
  }
  const keys = parts.flatMap((part) => {
    const named = ownValue(NAMED, part.toLowerCase());
    const stroke = named === null ? (part.length === 1 ? strokeOf(part) : null) : [named];
    if (stroke !== null) return stroke;
    throw vmDriverError(
      'VM_INPUT_INVALID',
      `${JSON.stringify(part.slice(0, 32))} is no key; there are characters and ${Object.keys(NAMED).join(', ')}`,
    );
  });
  return [...new Set(keys)];
}

function strokeOf(character: string): KeyStroke | null {
  if (/^[a-z0-9]$/.test(character)) return [character];
  if (/^[A-Z]$/.test(character)) return [SHIFT, character.toLowerCase()];
  const plain = ownValue(PLAIN, character);
  if (plain !== null) return [plain];
  const below = ownValue(SHIFTED, character);
  return below === null ? null : [SHIFT, ownValue(PLAIN, below) ?? below];
}

const ownValue = (table: Readonly<Record<string, string>>, name: string): string | null =>
  Object.hasOwn(table, name) ? (table[name] ?? null) : null;
