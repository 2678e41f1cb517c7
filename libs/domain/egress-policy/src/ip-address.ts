/** An IP address as a number: 32 bits for IPv4, 128 for IPv6. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Bits of an address of each family. */
export const ADDRESS_BITS = { 4: 32, 6: 128 } as const;

/** Longest text of an IPv6 address, with an IPv4 tail (INET6_ADDRSTRLEN without the NUL). */
const MAX_TEXT = 45;
const GROUPS = 8;
const GROUP = /^[0-9a-f]{1,4}$/i;
const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Reads what a resolver gives: dotted decimal without leading zeros, or the text forms of RFC 4291 (2.2). Null for
 * everything else, zone ids included.
 */
export function parseIpAddress(text: string): IpAddress | null {
  if (text.length > MAX_TEXT) return null;
  const value = text.includes(':') ? parseV6(text) : parseV4(text);
  return value === null ? null : { family: text.includes(':') ? 6 : 4, value };
}

function parseV4(text: string): bigint | null {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255)) return null;
  return octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

function parseV6(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, at) => groupsOf(half, at === halves.length - 1)) as [
    readonly bigint[] | null,
    (readonly bigint[] | null)?,
  ];
  if (head === null || tail === null) return null;
  const missing = GROUPS - head.length - (tail?.length ?? 0);
  // `::` stands for at least one group; without it all have to be there.
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<bigint>(missing).fill(0n), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** The 16-bit groups of one side of `::`; the last one of the address may be an IPv4 address, which is two. */
function groupsOf(half: string, isLast: boolean): readonly bigint[] | null {
  if (half === '') return [];
  const parts = half.split(':');
  const groups: bigint[] = [];
  for (const [at, part] of parts.entries()) {
    if (GROUP.test(part)) {
      groups.push(BigInt(`0x${part}`));
      continue;
    }
    const v4 = isLast && at === parts.length - 1 ? parseV4(part) : null;
    if (v4 === null) return null;
    groups.push(v4 >> 16n, v4 & 0xffffn);
  }
  return groups;
}
