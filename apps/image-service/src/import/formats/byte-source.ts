import { invalidSource } from './source-refusal';

/** A file that is read at will. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Up to `length` bytes from `offset` on; fewer only at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
}

/** All of a range. Throws `IMAGE_SOURCE_INVALID`, naming what was looked for, when the file ends before it does. */
export async function readWhole(source: ByteSource, offset: number, length: number, what: string): Promise<Buffer> {
  const bytes = await source.read(offset, length);
  if (bytes.length === length) return bytes;
  throw invalidSource(`the file is cut: its ${what} should be at byte ${offset}, and it has ${source.sizeBytes} bytes`);
}

/** An unsigned 64-bit number as a number; more than a file can have becomes Infinity, so that every bound refuses it. */
export function boundedUint64(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value);
}
