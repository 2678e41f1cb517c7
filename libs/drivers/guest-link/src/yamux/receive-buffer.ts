/**
 * Pieces below this are copied together: a peer that sends single bytes must not make the host hold one object, or pin
 * one 64 KiB socket buffer, for each. Above it a view wastes at most four times its size.
 */
const COPY_BELOW_BYTES = 16 * 1024;

/** Bytes that have arrived on a stream and that nobody has asked for yet. Its owner bounds them by the window. */
export class ReceiveBuffer {
  private readonly chunks: Buffer[] = [];
  /** Bytes of the last chunk that are in use, when that chunk is ours and has room; else -1. */
  private tailUsed = -1;

  get isEmpty(): boolean {
    return this.chunks.length === 0;
  }

  /** `bytes` may be a view; large ones are kept without a copy. */
  append(bytes: Buffer): void {
    if (bytes.length >= COPY_BELOW_BYTES) {
      this.sealTail();
      this.chunks.push(bytes);
      return;
    }
    for (let at = 0; at < bytes.length;) at += this.copyToTail(bytes.subarray(at));
  }

  /** The oldest piece; null when there is none. */
  shift(): Buffer | null {
    if (this.chunks.length === 1) this.sealTail();
    return this.chunks.shift() ?? null;
  }

  clear(): void {
    this.chunks.length = 0;
    this.tailUsed = -1;
  }

  private copyToTail(bytes: Buffer): number {
    if (this.tailUsed < 0) {
      this.chunks.push(Buffer.allocUnsafeSlow(COPY_BELOW_BYTES));
      this.tailUsed = 0;
    }
    const tail = this.chunks[this.chunks.length - 1] as Buffer;
    const copied = bytes.copy(tail, this.tailUsed);
    this.tailUsed += copied;
    if (this.tailUsed === tail.length) this.tailUsed = -1;
    return copied;
  }

  private sealTail(): void {
    if (this.tailUsed < 0) return;
    const last = this.chunks.length - 1;
    this.chunks[last] = (this.chunks[last] as Buffer).subarray(0, this.tailUsed);
    this.tailUsed = -1;
  }
}
