/** Keys that make a stroke a command of a program, and no text. */
const COMMAND_KEYS: readonly string[] = ['ctrl', 'alt', 'super'];
/** Names of keys that type a character. */
const TEXT_KEYS: readonly string[] = ['space', 'plus'];

/**
 * A combination of keys as it may stand in a record: what is typed stroke by stroke is text all the same, and may be a
 * password. `ctrl+c` and `enter` stay, `a` and `shift+a` lose their character.
 */
export function withoutText(combination: string): string {
  const keys = combination.toLowerCase().split('+');
  if (keys.some((key) => COMMAND_KEYS.includes(key))) return keys.join('+');
  return keys.map((key) => (key.length === 1 || TEXT_KEYS.includes(key) ? 'character' : key)).join('+');
}
