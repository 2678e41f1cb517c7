/** Bytes of one write call that are still to be sent. Views only; nothing is copied. */
export class SendBuffer {
  private readonly chunks: Buffer[];
  private length: number;

  constructor(chunks: readonly Buffer[]) {
    this.chunks = chunks.filter((chunk) => chunk.length > 0);
    this.length = this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  get sizeBytes(): number {
    return this.length;
  }

  /** Takes the next `sizeBytes` bytes, in pieces. There must be that many. */
  take(sizeBytes: number): Buffer[] {
    const taken: Buffer[] = [];
    let missing = sizeBytes;
    while (missing > 0) {
      const chunk = this.chunks[0] as Buffer;
      const piece = chunk.subarray(0, missing);
      taken.push(piece);
      missing -= piece.length;
      if (piece.length === chunk.length) this.chunks.shift();
      else this.chunks[0] = chunk.subarray(piece.length);
    }
    this.length -= sizeBytes;
    return taken;
  }
}
