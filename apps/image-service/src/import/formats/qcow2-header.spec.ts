import fc from 'fast-check';
import { isDomainError } from '@inquest/kernel';
import { parseQcow2Header } from './qcow2-header';

const MAX_BYTES = 1024 ** 3;
const DISK_BYTES = 64 * 1024 * 1024;

/** The head of a sound version 3 disk of 64 MiB; `change` damages it. */
function head(change: (bytes: Buffer) => void = () => undefined): Buffer {
  const bytes = Buffer.alloc(65_536);
  bytes.write('QFI\xfb', 0, 'latin1');
  bytes.writeUInt32BE(3, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(BigInt(DISK_BYTES), 24);
  bytes.writeUInt32BE(1, 36);
  bytes.writeBigUInt64BE(0x3_0000n, 40);
  bytes.writeUInt32BE(104, 100);
  change(bytes);
  return bytes;
}

const extension = (type: number, length: number) => (bytes: Buffer) => {
  bytes.writeUInt32BE(type, 104);
  bytes.writeUInt32BE(length, 108);
};

describe('parseQcow2Header', () => {
  it('gives where the tables of a sound disk are', () => {
    expect(parseQcow2Header(head(), MAX_BYTES)).toEqual({
      virtualBytes: DISK_BYTES,
      clusterBytes: 65_536,
      l1Offset: 0x3_0000,
      l1Entries: 1,
    });
  });

  it.each<[what: string, change: (bytes: Buffer) => void]>([
    ['a backing file', (bytes) => bytes.writeBigUInt64BE(512n, 8)],
    ['the name of a backing file without an offset', (bytes) => bytes.writeUInt32BE(11, 16)],
    ['encryption', (bytes) => bytes.writeUInt32BE(2, 32)],
    ['an external data file', (bytes) => bytes.writeBigUInt64BE(1n << 2n, 72)],
    ['extended second-level entries', (bytes) => bytes.writeBigUInt64BE(1n << 4n, 72)],
    ['a feature that nobody knows', (bytes) => bytes.writeBigUInt64BE(1n << 63n, 72)],
    ['an unknown compression', (bytes) => (bytes.writeUInt32BE(112, 100), bytes.writeUInt8(9, 104))],
    ['the format of a backing file', extension(0xe279_2aca, 5)],
    ['the name of an external data file', extension(0x4441_5441, 11)],
    ['the header of its encryption', extension(0x0537_be77, 16)],
  ])('refuses %s as unsafe', (_what, change) => {
    expect(() => parseQcow2Header(head(change), MAX_BYTES)).toThrow(
      expect.objectContaining({ code: 'IMAGE_SOURCE_UNSAFE' }),
    );
  });

  it.each<[what: string, bytes: Buffer]>([
    ['an empty file', Buffer.alloc(0)],
    ['a raw disk', Buffer.alloc(65_536)],
    ['a header that is cut', head().subarray(0, 90)],
    ['a version of the future', head((bytes) => bytes.writeUInt32BE(4, 4))],
    ['a disk that is marked as corrupt', head((bytes) => bytes.writeBigUInt64BE(2n, 72))],
    ['clusters of 4 GiB', head((bytes) => bytes.writeUInt32BE(32, 20))],
    ['a header of odd length', head((bytes) => bytes.writeUInt32BE(105, 100))],
    ['an extension that reaches out of its cluster', head(extension(1, 0xffff_ffff))],
    ['too few first-level entries', head((bytes) => bytes.writeUInt32BE(0, 36))],
    ['a first-level table in the middle of a cluster', head((bytes) => bytes.writeBigUInt64BE(0x3_0008n, 40))],
  ])('refuses %s as invalid', (_what, bytes) => {
    expect(() => parseQcow2Header(bytes, MAX_BYTES)).toThrow(expect.objectContaining({ code: 'IMAGE_SOURCE_INVALID' }));
  });

  it('refuses a disk that is larger than the limit, however small its file', () => {
    for (const size of [BigInt(MAX_BYTES) + 1n, (1n << 64n) - 1n]) {
      const bytes = head((sound) => sound.writeBigUInt64BE(size, 24));
      expect(() => parseQcow2Header(bytes, MAX_BYTES)).toThrow(
        expect.objectContaining({ code: 'IMAGE_SOURCE_OVERSIZED' }),
      );
    }
  });

  it('accepts a disk that was not closed: its tables are complete', () => {
    const bytes = head((sound) => sound.writeBigUInt64BE(1n, 72));
    expect(parseQcow2Header(bytes, MAX_BYTES).virtualBytes).toBe(DISK_BYTES);
  });

  it('answers any damage with a layout within bounds or a refusal', () => {
    const damage = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(damage, fc.nat(65_536), (changes, length) => {
        const bytes = head((sound) => changes.forEach(([at, value]) => sound.writeUInt8(value, at))).subarray(
          0,
          length,
        );
        try {
          const layout = parseQcow2Header(bytes, MAX_BYTES);
          expect(layout.virtualBytes).toBeLessThanOrEqual(MAX_BYTES);
          expect(layout.l1Entries).toBeLessThanOrEqual(4 * 1024 * 1024);
        } catch (e) {
          expect(isDomainError(e)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
