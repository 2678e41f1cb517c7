import { vmDriverError } from '../errors';

/** The first bytes of every PNG (RFC 2083, 3.1), and of its first chunk up to its name. */
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const HEADER_NAME_OFFSET = 12;
const WIDTH_OFFSET = 16;
const HEIGHT_OFFSET = 20;
const HEADER_END = 24;

/** A size in pixels. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** The size that the header of a PNG names. Throws `VM_SCREENSHOT_FAILED` for what is no PNG. */
export function pngSize(png: Uint8Array): ScreenSize {
  const head = Buffer.from(png.subarray(0, HEADER_END));
  const isPng =
    head.length === HEADER_END &&
    head.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE) &&
    head.toString('latin1', HEADER_NAME_OFFSET, WIDTH_OFFSET) === 'IHDR';
  if (!isPng) throw vmDriverError('VM_SCREENSHOT_FAILED', 'the monitor wrote no PNG');
  return { width: head.readUInt32BE(WIDTH_OFFSET), height: head.readUInt32BE(HEIGHT_OFFSET) };
}
