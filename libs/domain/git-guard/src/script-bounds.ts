// Quadratic in the parser; no real script comes near.
const MAX_HEREDOCS = 512;

// One for every ten characters of the longest script that is examined.
const MAX_SEPARATORS = 24 * 1024;

/** What a text has so much of that it is not parsed, in words; null: it may be. */
export function excessOf(text: string): string | null {
  if (hasMoreSeparators(text, MAX_SEPARATORS))
    return `it has more than ${MAX_SEPARATORS} lines and separators of commands`;
  return hasMoreHeredocs(text, MAX_HEREDOCS) ? `it has more than ${MAX_HEREDOCS} heredocs` : null;
}

/** True when the text has more than `limit` line ends and `;`, `&` and `|`: no more commands than these are in it. */
function hasMoreSeparators(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (let i = 0; i < text.length && count <= limit; i++) if (isSeparator(text.charCodeAt(i))) count++;
  return count > limit;
}

const isSeparator = (code: number): boolean => code === 0x0a || code === 0x3b || code === 0x26 || code === 0x7c;

/** True when the text has more than `limit` heredocs, or something that looks like them. */
function hasMoreHeredocs(text: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf('<<'); at >= 0; at = text.indexOf('<<', at + 2)) if (++count > limit) return true;
  return false;
}
