/** Longest host name, in characters (RFC 1035, 2.3.4, without the root's dot). */
const MAX_LENGTH = 253;

/** One label: letters, digits, inner dashes, and the underscore that real names have. */
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** A last label that every resolver reads as part of an IPv4 address: `127.1`, `0x7f.1`, `2130706433` (WHATWG URL, "ends in a number"). */
const NUMERIC_LAST_LABEL = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/i;

/**
 * The host name in lower case, in which names are compared; null when `text` is none. No trailing dot, no other
 * alphabet than ASCII (international names come as `xn--`), no IP address in any notation.
 */
export function parseHostName(text: string): string | null {
  if (text.length > MAX_LENGTH || isAddressLiteral(text)) return null;
  const name = text.toLowerCase();
  return HOST_NAME.test(name) ? name : null;
}

/** True when a resolver would take `text` for an IP address, in brackets or not, in whatever notation and base. */
export const isAddressLiteral = (text: string): boolean => text.includes(':') || NUMERIC_LAST_LABEL.test(text);

/** How many labels a host name has. */
export const labelCount = (name: string): number => name.split('.').length;
