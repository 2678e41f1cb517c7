import { boundedUint64 } from './byte-source';
import { invalidSource, oversizedSource, unsafeSource } from './source-refusal';

// Offsets, flags and extension types: QEMU, docs/interop/qcow2.txt.

const MAGIC = 0x51_46_49_fb; // "QFI\xfb"
const HEADER_BYTES_V2 = 72;
const HEADER_BYTES_V3 = 104;
/** The header and its extensions end within the first cluster, and no cluster is larger than this. */
export const QCOW2_HEAD_BYTES = 2 * 1024 * 1024;

const CLUSTER_BITS = { min: 9, max: 21 };
/** QCOW_MAX_L1_SIZE of QEMU, in entries. */
const MAX_L1_ENTRIES = (32 * 1024 * 1024) / 8;
const L1_ENTRY_BYTES = 8;
const L2_ENTRY_BYTES = 8;

const FEATURE_DIRTY = 1n << 0n;
const FEATURE_CORRUPT = 1n << 1n;
const FEATURE_DATA_FILE = 1n << 2n;
const FEATURE_COMPRESSION = 1n << 3n;
/** Features that change nothing about where the data is. */
const ACCEPTED_FEATURES = FEATURE_DIRTY | FEATURE_COMPRESSION;
/** 0 is zlib, 1 is zstd. */
const MAX_COMPRESSION_TYPE = 1;

const EXTENSION_END = 0;
const REFUSED_EXTENSIONS: ReadonlyMap<number, string> = new Map([
  [0xe279_2aca, 'names the format of a backing file'],
  [0x4441_5441, 'names an external data file'],
  [0x0537_be77, 'is encrypted'],
]);

/** Where the mapping tables of a qcow2 disk are. */
export interface Qcow2Layout {
  /** Size of the disk that the guest sees. */
  readonly virtualBytes: number;
  readonly clusterBytes: number;
  readonly l1Offset: number;
  /** L1 entries that the disk needs. */
  readonly l1Entries: number;
}

/**
 * Reads the head of a qcow2 file, before any other program does: one that names another file would make that program
 * read it. `head` is the first `QCOW2_HEAD_BYTES` or the whole file. Throws `IMAGE_SOURCE_INVALID` for what is no qcow2 or
 * is damaged, `IMAGE_SOURCE_UNSAFE` for a backing file, an external data file, encryption or a feature that is not known
 * to be harmless, and `IMAGE_SOURCE_OVERSIZED` beyond `maxBytes`.
 */
export function parseQcow2Header(head: Buffer, maxBytes: number): Qcow2Layout {
  if (head.length < HEADER_BYTES_V2 || head.readUInt32BE(0) !== MAGIC)
    throw invalidSource('the file is not a qcow2 disk');
  const version = head.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw invalidSource(`qcow2 version ${version} is not known`);
  refuseOtherFiles(head);
  const headerBytes = version === 2 ? HEADER_BYTES_V2 : checkFeatures(head);
  const clusterBits = head.readUInt32BE(20);
  if (clusterBits < CLUSTER_BITS.min || clusterBits > CLUSTER_BITS.max)
    throw invalidSource(`a qcow2 disk cannot have clusters of 2^${clusterBits} bytes`);
  const clusterBytes = 2 ** clusterBits;
  checkExtensions(head, headerBytes, clusterBytes);
  const virtualBytes = boundedUint64(head.readBigUInt64BE(24));
  if (virtualBytes > maxBytes) throw oversizedSource('the disk in the qcow2 file', maxBytes);
  return { virtualBytes, clusterBytes, ...mappingOf(head, virtualBytes, clusterBytes) };
}

function refuseOtherFiles(head: Buffer): void {
  if (head.readBigUInt64BE(8) !== 0n || head.readUInt32BE(16) !== 0) {
    throw unsafeSource('the qcow2 file has a backing file, which would be read from this host');
  }
  if (head.readUInt32BE(32) !== 0) throw unsafeSource('the qcow2 file is encrypted');
}

/** The length of a version 3 header, after a look at its features. */
function checkFeatures(head: Buffer): number {
  if (head.length < HEADER_BYTES_V3) throw invalidSource('the file is cut: it ends within the qcow2 header');
  const features = head.readBigUInt64BE(72);
  if ((features & FEATURE_CORRUPT) !== 0n) throw invalidSource('the qcow2 file is marked as corrupt');
  if ((features & FEATURE_DATA_FILE) !== 0n) {
    throw unsafeSource('the qcow2 file has an external data file, which would be read from this host');
  }
  const unknown = features & ~ACCEPTED_FEATURES;
  if (unknown !== 0n) throw unsafeSource(`the qcow2 file needs features that are refused (0x${unknown.toString(16)})`);
  const headerBytes = head.readUInt32BE(100);
  if (headerBytes < HEADER_BYTES_V3 || headerBytes % 8 !== 0 || headerBytes > head.length)
    throw invalidSource(`a qcow2 header cannot have ${headerBytes} bytes`);
  const compression = headerBytes > HEADER_BYTES_V3 ? head.readUInt8(HEADER_BYTES_V3) : 0;
  if (compression > MAX_COMPRESSION_TYPE) throw unsafeSource(`qcow2 compression ${compression} is not known`);
  return headerBytes;
}

function checkExtensions(head: Buffer, headerBytes: number, clusterBytes: number): void {
  const end = Math.min(head.length, clusterBytes);
  for (let at = headerBytes; at + 8 <= end;) {
    const type = head.readUInt32BE(at);
    if (type === EXTENSION_END) return;
    const refusal = REFUSED_EXTENSIONS.get(type);
    if (refusal !== undefined) throw unsafeSource(`the qcow2 file ${refusal}`);
    // Data is padded to eight bytes.
    at += 8 + Math.ceil(head.readUInt32BE(at + 4) / 8) * 8;
    if (at > end) throw invalidSource('a header extension of the qcow2 file reaches beyond its first cluster');
  }
}

function mappingOf(head: Buffer, virtualBytes: number, clusterBytes: number) {
  const bytesPerL1Entry = clusterBytes * (clusterBytes / L2_ENTRY_BYTES);
  const l1Entries = Math.ceil(virtualBytes / bytesPerL1Entry);
  const declared = head.readUInt32BE(36);
  const l1Offset = boundedUint64(head.readBigUInt64BE(40));
  if (declared < l1Entries || declared > MAX_L1_ENTRIES || l1Entries * L1_ENTRY_BYTES > MAX_L1_ENTRIES * L1_ENTRY_BYTES)
    throw invalidSource(`the qcow2 file declares ${declared} first-level entries where ${l1Entries} are needed`);
  if (l1Entries > 0 && (l1Offset === 0 || l1Offset % clusterBytes !== 0))
    throw invalidSource('the first-level table of the qcow2 file is not at a cluster of its own');
  return { l1Offset, l1Entries };
}
