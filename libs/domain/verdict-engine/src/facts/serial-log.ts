import { BUNDLE_FILES } from '../bundle-files';
import { printable, type Citation } from '../citation';
import type { Evidence } from '../evidence';

const NEWLINE = Uint8Array.of(0x0a);
const NOTHING = new Uint8Array(0);

/** Head and tail of the console as one run of bytes, with the way back to the files and to the original stream. */
export class SerialLog {
  /** Head, then tail. Where bytes were dropped between them a newline stands in, so that no line is made of two halves. */
  readonly bytes: Uint8Array;
  private readonly headBytes: number;
  private readonly seamBytes: number;
  private readonly droppedBytes: number;

  constructor({ serialHead, serialTail, meta }: Evidence) {
    const gap = meta.serial.droppedBytes > 0 && serialTail.length > 0;
    const seam = gap ? NEWLINE : NOTHING;
    this.headBytes = serialHead.length;
    this.seamBytes = seam.length;
    this.droppedBytes = gap ? meta.serial.droppedBytes : 0;
    this.bytes = new Uint8Array(serialHead.length + seam.length + serialTail.length);
    this.bytes.set(serialHead);
    this.bytes.set(seam, serialHead.length);
    this.bytes.set(serialTail, serialHead.length + seam.length);
  }

  /** Citation of a stretch of `bytes`; one that runs over the seam is cited in the file where it begins. */
  cite(offset: number, length: number, text: string): Citation {
    const inTail = offset >= this.headBytes + this.seamBytes;
    return {
      file: inTail ? BUNDLE_FILES.serialTail : BUNDLE_FILES.serialHead,
      offset: inTail ? offset - this.headBytes - this.seamBytes : offset,
      length,
      quote: printable(text),
    };
  }

  /** How many bytes the guest had written when it had written those up to `offset`. */
  streamPosition(offset: number): number {
    return offset < this.headBytes ? offset : offset - this.seamBytes + this.droppedBytes;
  }
}
