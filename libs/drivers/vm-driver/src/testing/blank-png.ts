import { crc32, deflateSync } from 'node:zlib';
import type { ScreenSize } from '../screen/png-size';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Greyscale, one byte for each pixel. */
const BIT_DEPTH = 8;

/** A PNG of this size that is black all over. */
export function blankPng({ width, height }: ScreenSize): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BIT_DEPTH;
  // Each line begins with the number of its filter; 0 is none.
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
