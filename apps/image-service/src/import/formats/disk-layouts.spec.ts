import fc from 'fast-check';
import { isDomainError } from '@inquest/kernel';
import type { ByteSource } from './byte-source';
import { EXT_HEAD_BYTES, extFileSystemBytes, isExtFileSystem } from './ext-superblock';
import { readPartitions } from './partition-table';
import { checkQcow2Mapping } from './qcow2-mapping';

const never = new AbortController().signal;
const refusal = (code: string): Error => expect.objectContaining({ code }) as Error;

const sourceOf = (bytes: Buffer): ByteSource => ({
  sizeBytes: bytes.length,
  read: (offset, length) => Promise.resolve(Buffer.from(bytes.subarray(offset, offset + length))),
});

function extHead(fields: Readonly<Record<number, number>> = {}): Buffer {
  const bytes = Buffer.alloc(EXT_HEAD_BYTES);
  const sound = { 4: 1024, 24: 2, 92: 4, 96: 0x40, 224: 8 };
  for (const [offset, value] of Object.entries({ ...sound, ...fields }))
    bytes.writeUInt32LE(value, 1024 + Number(offset));
  bytes.writeUInt16LE(0xef53, 1024 + 56);
  return bytes;
}

describe('extFileSystemBytes', () => {
  it('gives the size of a file system that fits', () => {
    expect(extFileSystemBytes(extHead(), 4 * 1024 * 1024)).toBe(4 * 1024 * 1024);
  });

  it('refuses one that is cut, naming both sizes', () => {
    expect(() => extFileSystemBytes(extHead(), 4 * 1024 * 1024 - 1)).toThrow(/4194304 bytes, and only 4194303/);
  });

  it.each([
    ['no file system', Buffer.alloc(EXT_HEAD_BYTES), 'IMAGE_SOURCE_INVALID'],
    ['less than a superblock', Buffer.alloc(100), 'IMAGE_SOURCE_INVALID'],
    ['blocks of a size that none has', extHead({ 24: 40 }), 'IMAGE_SOURCE_INVALID'],
    ['no blocks', extHead({ 4: 0 }), 'IMAGE_SOURCE_INVALID'],
    ['more blocks than a disk can have', extHead({ 96: 0x80, 336: 0xffff_ffff }), 'IMAGE_SOURCE_INVALID'],
    ['a journal that is a device of its own', extHead({ 96: 0x8 }), 'IMAGE_SOURCE_UNSAFE'],
    ['a journal on another device', extHead({ 224: 0 }), 'IMAGE_SOURCE_UNSAFE'],
  ])('refuses %s', (_what, bytes, code) => {
    expect(() => extFileSystemBytes(bytes, 2 ** 40)).toThrow(refusal(code));
  });
});

/** A disk of 64 sectors with an MBR. */
function mbrDisk(...partitions: readonly [type: number, first: number, count: number][]): Buffer {
  const bytes = Buffer.alloc(64 * 512);
  bytes.writeUInt16LE(0xaa55, 510);
  partitions.forEach(([type, first, count], index) => {
    bytes.writeUInt8(type, 450 + index * 16);
    bytes.writeUInt32LE(first, 454 + index * 16);
    bytes.writeUInt32LE(count, 458 + index * 16);
  });
  return bytes;
}

function gptDisk(change: (bytes: Buffer) => void = () => undefined): Buffer {
  const bytes = mbrDisk([0xee, 1, 63]);
  bytes.write('EFI PART', 512, 'latin1');
  bytes.writeBigUInt64LE(2n, 512 + 72);
  bytes.writeUInt32LE(4, 512 + 80);
  bytes.writeUInt32LE(128, 512 + 84);
  bytes.fill(0x11, 1024, 1040);
  bytes.writeBigUInt64LE(10n, 1024 + 32);
  bytes.writeBigUInt64LE(19n, 1024 + 40);
  change(bytes);
  return bytes;
}

describe('readPartitions', () => {
  it('finds the partitions of an MBR', async () => {
    await expect(readPartitions(sourceOf(mbrDisk([0x83, 8, 16], [0x82, 24, 8])))).resolves.toEqual([
      { offsetBytes: 4096, sizeBytes: 8192 },
      { offsetBytes: 12_288, sizeBytes: 4096 },
    ]);
  });

  it('finds the partitions of a GPT', async () => {
    await expect(readPartitions(sourceOf(gptDisk()))).resolves.toEqual([{ offsetBytes: 5120, sizeBytes: 5120 }]);
  });

  it('finds none where there is no table', async () => {
    await expect(readPartitions(sourceOf(Buffer.alloc(4096)))).resolves.toBeNull();
    await expect(readPartitions(sourceOf(Buffer.alloc(10)))).resolves.toBeNull();
  });

  it.each<[what: string, disk: Buffer]>([
    ['a partition beyond the end of the disk', mbrDisk([0x83, 8, 1000])],
    ['a partition without sectors', mbrDisk([0x83, 8, 0])],
    ['an extended partition', mbrDisk([0x05, 8, 16])],
    ['a GPT without its header', gptDisk((bytes) => bytes.fill(0, 512, 520))],
    ['a GPT of four billion entries', gptDisk((bytes) => bytes.writeUInt32LE(0xffff_ffff, 592))],
    ['a GPT whose entries are elsewhere', gptDisk((bytes) => bytes.writeBigUInt64LE(1n << 60n, 584))],
    ['a GPT partition that ends before it begins', gptDisk((bytes) => bytes.writeBigUInt64LE(3n, 1064))],
  ])('refuses %s', async (_what, disk) => {
    await expect(readPartitions(sourceOf(disk))).rejects.toMatchObject({ code: 'IMAGE_SOURCE_INVALID' });
  });

  it('answers any damage with partitions on the disk or a refusal', async () => {
    const damage = fc.array(fc.tuple(fc.nat(1200), fc.nat(255)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        const disk = gptDisk((bytes) => changes.forEach(([at, value]) => bytes.writeUInt8(value, at)));
        const found = await readPartitions(sourceOf(disk)).catch((e: unknown) => {
          expect(isDomainError(e)).toBe(true);
          return [];
        });
        for (const { offsetBytes, sizeBytes } of found ?? [])
          expect(offsetBytes + sizeBytes).toBeLessThanOrEqual(disk.length);
      }),
      { numRuns: 500 },
    );
  });
});

describe('checkQcow2Mapping', () => {
  const CLUSTER = 512;
  const layout = { virtualBytes: 64 * CLUSTER, clusterBytes: CLUSTER, l1Offset: CLUSTER, l1Entries: 1 };
  /** Header, first-level table, second-level table, data. */
  const disk = (l1Entry: bigint, l2Entry: bigint, clusters = 4): Buffer => {
    const bytes = Buffer.alloc(clusters * CLUSTER);
    bytes.writeBigUInt64BE(l1Entry, CLUSTER);
    if (clusters > 2) bytes.writeBigUInt64BE(l2Entry, 2 * CLUSTER);
    return bytes;
  };
  const check = (bytes: Buffer) => checkQcow2Mapping(sourceOf(bytes), layout, never);
  const at = (cluster: number) => (1n << 63n) | BigInt(cluster * CLUSTER);

  it('accepts a disk whose data is all there', async () => {
    await expect(check(disk(at(2), at(3)))).resolves.toBeUndefined();
    await expect(check(disk(0n, 0n))).resolves.toBeUndefined();
  });

  it('accepts a last cluster that is written as far as there is data', async () => {
    await expect(check(disk(at(2), at(3)).subarray(0, 3 * CLUSTER + 100))).resolves.toBeUndefined();
  });

  it.each<[what: string, bytes: Buffer]>([
    ['that ends before its first-level table', disk(at(2), at(3)).subarray(0, CLUSTER)],
    ['that ends before a second-level table', disk(at(2), 0n, 2)],
    ['that ends before its data', disk(at(2), at(3), 3)],
    ['whose data is far away', disk(at(2), at(1000))],
    ['whose compressed data is missing', disk(at(2), (1n << 62n) | 0x10_0000n)],
  ])('refuses a file %s', async (_what, bytes) => {
    await expect(check(bytes)).rejects.toMatchObject({ code: 'IMAGE_SOURCE_INVALID' });
  });
});

describe('isExtFileSystem', () => {
  it('takes nothing else for one', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 2048 }), (bytes) => !isExtFileSystem(Buffer.from(bytes))));
  });
});
