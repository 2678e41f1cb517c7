/** Walks over a byte string of TLS (RFC 8446, 3): big-endian numbers, and vectors with their length in front. */
export class ByteCursor {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  /** A number of `size` bytes (1 to 4). Throws `RangeError` when they are not there. */
  number(size: number): number {
    return this.take(size).reduce((value, byte) => value * 256 + byte, 0);
  }

  /** The content of a vector whose length is a number of `lengthSize` bytes. Throws `RangeError` when it is cut. */
  vector(lengthSize: number): Uint8Array {
    return this.take(this.number(lengthSize));
  }

  /** The next `length` bytes. Throws `RangeError` when they are not there. */
  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RangeError('the bytes end too early');
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }
}
