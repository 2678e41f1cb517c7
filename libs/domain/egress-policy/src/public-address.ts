import { ADDRESS_BITS, parseIpAddress, type IpAddress } from './ip-address';

interface Range {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly prefixLength: number;
  readonly name: string;
}

/**
 * IPv4 addresses that are not hosts of the public internet: the special-purpose registry of IANA (RFC 6890 and its
 * successors), multicast and reserved space, and the one cloud metadata address that lies in public space.
 */
const SPECIAL_V4 = ranges({
  '0.0.0.0/8': 'this network',
  '10.0.0.0/8': 'private',
  '100.64.0.0/10': 'carrier-grade NAT',
  '127.0.0.0/8': 'loopback',
  '168.63.129.16/32': 'cloud metadata',
  '169.254.0.0/16': 'link-local',
  '172.16.0.0/12': 'private',
  '192.0.0.0/24': 'protocol assignments',
  '192.0.2.0/24': 'documentation',
  '192.88.99.0/24': '6to4 relay',
  '192.168.0.0/16': 'private',
  '198.18.0.0/15': 'benchmarking',
  '198.51.100.0/24': 'documentation',
  '203.0.113.0/24': 'documentation',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved',
});

/** The only space of IPv6 in which hosts of the public internet are (IANA, IPv6 address space: global unicast). */
const GLOBAL_V6 = ranges({ '2000::/3': 'global unicast' });

/** What is special inside it. Teredo and 6to4 carry an IPv4 address of the sender's choice. */
const SPECIAL_V6 = ranges({
  '2001::/23': 'protocol assignments',
  '2001:db8::/32': 'documentation',
  '2002::/16': '6to4',
  '3fff::/20': 'documentation',
});

/** Names for what lies outside of global unicast; all of it is refused, named or not. */
const OUTSIDE_V6 = ranges({
  '::/128': 'unspecified',
  '::1/128': 'loopback',
  '::ffff:0:0/96': 'IPv4-mapped',
  '64:ff9b::/96': 'IPv4 translation',
  '64:ff9b:1::/48': 'IPv4 translation',
  'fc00::/7': 'private',
  'fe80::/10': 'link-local',
  'ff00::/8': 'multicast',
});

/**
 * Why the address is not one of a host on the public internet, in a word or two; null when it is. What is no address at
 * all, or an IPv6 address that carries an IPv4 one, is never public.
 */
export function whyNotPublic(text: string): string | null {
  const address = parseIpAddress(text);
  if (address === null) return 'no address';
  if (address.family === 4) return nameIn(SPECIAL_V4, address);
  if (nameIn(GLOBAL_V6, address) === null) return nameIn(OUTSIDE_V6, address) ?? 'not global unicast';
  return nameIn(SPECIAL_V6, address);
}

const nameIn = (table: readonly Range[], address: IpAddress): string | null =>
  table.find((range) => contains(range, address))?.name ?? null;

function contains({ family, first, prefixLength }: Range, address: IpAddress): boolean {
  const hostBits = BigInt(ADDRESS_BITS[family] - prefixLength);
  return family === address.family && address.value >> hostBits === first >> hostBits;
}

function ranges(table: Readonly<Record<string, string>>): readonly Range[] {
  return Object.entries(table).map(([cidr, name]) => {
    const [text = '', prefixLength] = cidr.split('/');
    const address = parseIpAddress(text);
    if (address === null) throw new TypeError(`${cidr} is no address range`);
    return { family: address.family, first: address.value, prefixLength: Number(prefixLength), name };
  });
}
