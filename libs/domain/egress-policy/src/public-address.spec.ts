import { BlockList, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { parseIpAddress } from './ip-address';
import { whyNotPublic } from './public-address';

/** Written down a second time, for another implementation: every IPv4 range that is not public. */
const SPECIAL_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

const SPECIAL_V6_IN_GLOBAL = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const special = new BlockList();
for (const [network, prefix] of SPECIAL_V4) special.addSubnet(network, prefix, 'ipv4');
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');
const specialV6 = new BlockList();
for (const [network, prefix] of SPECIAL_V6_IN_GLOBAL) specialV6.addSubnet(network, prefix, 'ipv6');

const octets = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
const hextets = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');
const group = fc.integer({ min: 0, max: 0xffff });
const groups = (count: number): fc.Arbitrary<number[]> => fc.array(group, { minLength: count, maxLength: count });

/** Any address of a range: its first bits, then whatever comes. */
const inRange = (network: string, prefixLength: number): fc.Arbitrary<string> => {
  const first = network.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
  return fc
    .bigInt({ min: 0n, max: (1n << BigInt(32 - prefixLength)) - 1n })
    .map((host) => octets(Number(BigInt(first) + host)));
};

describe('a public address', () => {
  it.each(['1.1.1.1', '8.8.8.8', '140.82.121.4', '172.15.255.255', '172.32.0.0', '100.63.255.255', '100.128.0.0'])(
    'is %s',
    (address) => {
      expect(whyNotPublic(address)).toBeNull();
    },
  );

  it.each(['2606:4700:4700::1111', '2a00:1450:4001:830::200e', '2001:200::1', '2003::1'])('is %s', (address) => {
    expect(whyNotPublic(address)).toBeNull();
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['168.63.129.16', 'cloud metadata'],
    ['100.100.100.200', 'carrier-grade NAT'],
    ['192.0.0.192', 'protocol assignments'],
    ['0.0.0.0', 'this network'],
    ['255.255.255.255', 'reserved'],
    ['224.0.0.251', 'multicast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:7f00:1', 'IPv4-mapped'],
    ['::127.0.0.1', 'not global unicast'],
    ['64:ff9b::7f00:1', 'IPv4 translation'],
    ['64:ff9b:1::a00:1', 'IPv4 translation'],
    ['2002:7f00:1::1', '6to4'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'protocol assignments'],
    ['2001:db8::1', 'documentation'],
    ['fd00:ec2::254', 'private'],
    ['fe80::1', 'link-local'],
    ['fec0::1', 'not global unicast'],
    ['ff02::1', 'multicast'],
    ['100::1', 'not global unicast'],
    ['5f00::1', 'not global unicast'],
  ])('is not %s: %s', (address, why) => {
    expect(whyNotPublic(address)).toBe(why);
  });

  it.each([
    '',
    'localhost',
    '127.1',
    '127.0.0.01',
    '256.1.1.1',
    '1.1.1.1 ',
    '1.1.1',
    '::1%lo',
    'fe80::1%eth0',
    ':::',
    '1::2::3',
    '2606:4700',
  ])('is not %j, which is no address', (text) => {
    expect(whyNotPublic(text)).toBe('no address');
  });

  it.each(SPECIAL_V4)('is none in %s/%d, wherever in it', (network, prefixLength) => {
    fc.assert(
      fc.property(inRange(network, prefixLength), (address) => {
        expect(whyNotPublic(address)).not.toBeNull();
      }),
    );
  });

  it('is an IPv4 address that an independent list of the special ranges does not have', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffff_ffff }), (value) => {
        const address = octets(value);
        expect(whyNotPublic(address) === null).toBe(!special.check(address, 'ipv4'));
      }),
      { numRuns: 2000 },
    );
  });

  it('is never an IPv6 address that carries an IPv4 one', () => {
    const carriers = ['::ffff:', '::', '64:ff9b::', '64:ff9b:1::'];
    fc.assert(
      fc.property(fc.constantFrom(...carriers), fc.nat({ max: 0xffff_ffff }), (carrier, value) => {
        expect(whyNotPublic(`${carrier}${octets(value)}`)).not.toBeNull();
      }),
    );
    fc.assert(
      fc.property(groups(7), (rest) => {
        expect(whyNotPublic(hextets([0x2002, ...rest]))).toBe('6to4');
      }),
    );
  });

  it('is an IPv6 address in global unicast space that an independent list of its special ranges does not have', () => {
    const leading = fc.oneof(group, fc.constantFrom(0x2001, 0x2002, 0x2600, 0x3fff, 0xfc00, 0xfe80, 0xff02, 0));
    const second = fc.oneof(group, fc.constantFrom(0, 0x0db8, 0x01ff, 0x0200, 0x0fff, 0x1000));
    fc.assert(
      fc.property(leading, second, groups(6), (first, next, rest) => {
        const address = hextets([first, next, ...rest]);
        const isPublic = globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
        expect(whyNotPublic(address) === null).toBe(isPublic);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the text of an address', () => {
  it('is read as the number it stands for, in every way of writing it', () => {
    fc.assert(
      fc.property(groups(8), fc.nat(7), fc.nat(8), (all, from, count) => {
        const zeroed = all.map((value, at) => (at >= from && at < from + count ? 0 : value));
        const expected = zeroed.reduce((value, next) => (value << 16n) | BigInt(next), 0n);
        const full = zeroed.map((value) => value.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const tail = octets(((zeroed[6] ?? 0) * 0x10000 + (zeroed[7] ?? 0)) >>> 0);
        const forms = [hextets(zeroed), full, `${hextets(zeroed.slice(0, 6))}:${tail}`];
        const last = Math.min(8, from + count);
        if (last > from) forms.push(`${hextets(zeroed.slice(0, from))}::${hextets(zeroed.slice(last))}`);
        for (const form of forms)
          expect({ form, ...parseIpAddress(form) }).toEqual({ form, family: 6, value: expected });
      }),
    );
  });

  it('is an address exactly where Node says so, zone ids aside', () => {
    const soup = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.:.:'), maxLength: 46 });
    const almost = fc.tuple(groups(8), soup).map(([all, more]) => hextets(all).slice(0, -2) + more.slice(0, 4));
    const dotted = fc
      .array(fc.integer({ min: 0, max: 300 }), { minLength: 3, maxLength: 5 })
      .map((all) => all.join('.'));
    fc.assert(
      fc.property(fc.oneof(soup, almost, dotted), (text) => {
        const family = isIPv4(text) ? 4 : isIPv6(text) ? 6 : null;
        expect(parseIpAddress(text)?.family ?? null).toBe(family);
      }),
      { numRuns: 3000 },
    );
  });
});
