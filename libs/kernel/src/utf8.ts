/** A continuation byte is 10xxxxxx, and a character has at most three of them (RFC 3629). */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const MAX_CONTINUATIONS = 3;

/**
 * How many of the bytes are whole UTF-8 characters: less than all when the last one is cut off. Never 0 for bytes that
 * are there, so that a reader of parts always gets on, also in what is no UTF-8.
 */
export function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && bytes.length - start <= MAX_CONTINUATIONS && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  const isCut = start > 0 && start + length > bytes.length;
  return isCut ? start : bytes.length;
}

/** How many bytes at the front are the end of a character that began before them: 0 to 3. */
export function leadingContinuations(bytes: Uint8Array): number {
  let count = 0;
  while (count < MAX_CONTINUATIONS && isContinuation(bytes[count])) count++;
  return count;
}
