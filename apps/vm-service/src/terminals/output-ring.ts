/** The last bytes of an endless output, by their offset in it. */
export class OutputRing {
  private readonly kept: Buffer;
  private total = 0;

  /** Holds `capacityBytes` from the beginning, and never more. */
  constructor(capacityBytes: number) {
    this.kept = Buffer.alloc(capacityBytes);
  }

  /** Offset of the first byte that is kept. */
  get start(): number {
    return Math.max(0, this.total - this.kept.length);
  }

  /** Offset of the next byte to come: everything that was written. */
  get end(): number {
    return this.total;
  }

  write(bytes: Uint8Array): void {
    const { length } = this.kept;
    // Of more than fits only the end stays.
    const tail = bytes.subarray(Math.max(0, bytes.length - length));
    this.total += bytes.length - tail.length;
    const at = this.total % length;
    const first = tail.subarray(0, length - at);
    this.kept.set(first, at);
    this.kept.set(tail.subarray(first.length), 0);
    this.total += tail.length;
  }

  /** A copy of at most `maxBytes` from `offset` on, which must be one that is kept. */
  read(offset: number, maxBytes: number): Buffer {
    const { length } = this.kept;
    const sizeBytes = Math.min(maxBytes, this.total - offset);
    const at = offset % length;
    const first = this.kept.subarray(at, Math.min(length, at + sizeBytes));
    return Buffer.concat([first, this.kept.subarray(0, sizeBytes - first.length)]);
  }
}
