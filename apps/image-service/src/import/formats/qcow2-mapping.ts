import { readWhole, type ByteSource } from './byte-source';
import type { Qcow2Layout } from './qcow2-header';
import { invalidSource } from './source-refusal';

// Bits of the table entries: QEMU, docs/interop/qcow2.txt.

const ENTRY_BYTES = 8;
/** Bits 9 to 55: where a table or a cluster is. */
const OFFSET_MASK = 0x00ff_ffff_ffff_fe00n;
const COMPRESSED = 1n << 62n;
const SECTOR_BYTES = 512;
/** First-level entries that are read at once. */
const L1_BATCH = 8192;

/**
 * Checks that everything the tables of a qcow2 disk point to is in the file: a reader would take what is missing for
 * zeros. Throws `IMAGE_SOURCE_INVALID`; `OPERATION_ABORTED` or whatever the signal's reason is when it aborts.
 */
export async function checkQcow2Mapping(source: ByteSource, layout: Qcow2Layout, signal: AbortSignal): Promise<void> {
  for (let first = 0; first < layout.l1Entries; first += L1_BATCH) {
    const count = Math.min(L1_BATCH, layout.l1Entries - first);
    const offset = layout.l1Offset + first * ENTRY_BYTES;
    const table = await readWhole(source, offset, count * ENTRY_BYTES, 'first-level table');
    for (const entry of entriesOf(table)) {
      signal.throwIfAborted();
      const l2Offset = Number(entry & OFFSET_MASK);
      if (l2Offset !== 0) await checkL2Table(source, layout, l2Offset);
    }
  }
}

async function checkL2Table(source: ByteSource, { clusterBytes }: Qcow2Layout, offset: number): Promise<void> {
  if (offset % clusterBytes !== 0) throw invalidSource('a second-level table of the qcow2 file is not at a cluster');
  const table = await readWhole(source, offset, clusterBytes, 'second-level table');
  // The last cluster is written only as far as there is data.
  const end = Math.ceil(source.sizeBytes / clusterBytes) * clusterBytes;
  for (const entry of entriesOf(table)) {
    const [start, stop] =
      (entry & COMPRESSED) === 0n ? plainRange(entry, clusterBytes) : packedRange(entry, clusterBytes);
    if (start >= source.sizeBytes || stop > end) {
      throw invalidSource(`the file is cut: it has ${source.sizeBytes} bytes, and data should be at byte ${start}`);
    }
  }
}

/** [0, 0] for a cluster without data of its own. */
function plainRange(entry: bigint, clusterBytes: number): readonly [number, number] {
  const start = Number(entry & OFFSET_MASK);
  if (start % clusterBytes !== 0) throw invalidSource('data of the qcow2 file is not at a cluster');
  return start === 0 ? [0, 0] : [start, start + clusterBytes];
}

/** A compressed cluster begins at any byte and takes whole sectors; the last of them may be missing at the end. */
function packedRange(entry: bigint, clusterBytes: number): readonly [number, number] {
  const offsetBits = BigInt(62 - (Math.log2(clusterBytes) - 8));
  const start = Number(entry & ((1n << offsetBits) - 1n));
  return [start, start - (start % SECTOR_BYTES) + SECTOR_BYTES];
}

function* entriesOf(table: Buffer): Generator<bigint> {
  for (let at = 0; at < table.length; at += ENTRY_BYTES) yield table.readBigUInt64BE(at);
}
