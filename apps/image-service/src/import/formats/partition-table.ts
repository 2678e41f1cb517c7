import { boundedUint64, readWhole, type ByteSource } from './byte-source';
import { invalidSource } from './source-refusal';

// MBR and GPT: UEFI specification, chapter 5. Sectors of disk images have 512 bytes.

const SECTOR_BYTES = 512;
const MBR_SIGNATURE = 0xaa55;
const MBR_ENTRIES = 4;
const TYPE_GPT_PROTECTIVE = 0xee;
/** An extended partition holds further ones. */
const TYPES_EXTENDED: readonly number[] = [0x05, 0x0f, 0x85];
const GPT_SIGNATURE = 'EFI PART';
/** What every partitioning program makes, many times over. */
const MAX_GPT_ENTRIES = 1024;
const GPT_ENTRY_BYTES = { min: 128, max: 4096 };

/** A partition, in bytes from the start of the disk. */
export interface Partition {
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

/**
 * The partitions of a disk that reach no further than the disk does; null when it has no partition table. Throws
 * `IMAGE_SOURCE_INVALID` for a table that is damaged or has extended partitions.
 */
export async function readPartitions(disk: ByteSource): Promise<readonly Partition[] | null> {
  const mbr = await disk.read(0, SECTOR_BYTES);
  if (mbr.length < SECTOR_BYTES || mbr.readUInt16LE(510) !== MBR_SIGNATURE) return null;
  const entries = Array.from({ length: MBR_ENTRIES }, (_, index) => mbr.subarray(446 + index * 16, 462 + index * 16));
  const types = entries.map((entry) => entry.readUInt8(4));
  const partitions = types.includes(TYPE_GPT_PROTECTIVE) ? await readGpt(disk) : readMbr(entries, types);
  for (const { offsetBytes, sizeBytes } of partitions) {
    if (offsetBytes + sizeBytes > disk.sizeBytes)
      throw invalidSource('the disk is cut: a partition reaches beyond its end');
  }
  return partitions;
}

function readMbr(entries: readonly Buffer[], types: readonly number[]): readonly Partition[] {
  if (types.some((type) => TYPES_EXTENDED.includes(type))) throw invalidSource('the disk has an extended partition');
  return entries
    .filter((_, index) => types[index] !== 0)
    .map((entry) => partition(entry.readUInt32LE(8), entry.readUInt32LE(12)));
}

async function readGpt(disk: ByteSource): Promise<readonly Partition[]> {
  const header = await readWhole(disk, SECTOR_BYTES, SECTOR_BYTES, 'partition table');
  if (header.toString('latin1', 0, 8) !== GPT_SIGNATURE)
    throw invalidSource('the partition table of the disk is damaged');
  const firstSector = boundedUint64(header.readBigUInt64LE(72));
  const count = header.readUInt32LE(80);
  const entryBytes = header.readUInt32LE(84);
  const isPlausible =
    count <= MAX_GPT_ENTRIES && entryBytes >= GPT_ENTRY_BYTES.min && entryBytes <= GPT_ENTRY_BYTES.max;
  if (!isPlausible || firstSector * SECTOR_BYTES > disk.sizeBytes)
    throw invalidSource('the partition table of the disk is damaged');
  const table = await readWhole(disk, firstSector * SECTOR_BYTES, count * entryBytes, 'partition table');
  const partitions: Partition[] = [];
  for (let at = 0; at < table.length; at += entryBytes) {
    const isUsed = table.subarray(at, at + 16).some((byte) => byte !== 0);
    const [first, last] = [table.readBigUInt64LE(at + 32), table.readBigUInt64LE(at + 40)].map(boundedUint64);
    if (isUsed && first !== undefined && last !== undefined) partitions.push(partition(first, last - first + 1));
  }
  return partitions;
}

function partition(firstSector: number, sectors: number): Partition {
  if (!(firstSector > 0 && sectors > 0)) throw invalidSource('the partition table of the disk is damaged');
  return { offsetBytes: firstSector * SECTOR_BYTES, sizeBytes: sectors * SECTOR_BYTES };
}
