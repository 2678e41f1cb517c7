/**
 * Keeps the first `headBytes` and the last `tailBytes` of a stream that may never end, and counts what fell between.
 * Memory is bounded by `headBytes + 2 * tailBytes`.
 */
export class HeadTailBuffer {
  private readonly head: Uint8Array[] = [];
  private headLength = 0;
  private tail: Uint8Array[] = [];
  private tailLength = 0;
  private seen = 0;

  constructor(
    private readonly headBytes: number,
    private readonly tailBytes: number,
  ) {}

  /** Bytes written in all. */
  get totalBytes(): number {
    return this.seen;
  }

  /** Bytes that were dropped between head and tail. */
  get droppedBytes(): number {
    return Math.max(0, this.seen - this.headBytes - this.tailBytes);
  }

  /** Copies what it keeps; the caller may reuse `chunk`. */
  write(chunk: Uint8Array): void {
    this.seen += chunk.length;
    const toHead = Math.min(this.headBytes - this.headLength, chunk.length);
    if (toHead > 0) {
      this.head.push(copyOf(chunk.subarray(0, toHead)));
      this.headLength += toHead;
    }
    const rest = chunk.subarray(Math.max(toHead, chunk.length - this.tailBytes));
    if (rest.length === 0) return;
    this.tail.push(copyOf(rest));
    this.tailLength += rest.length;
    if (this.tailLength > 2 * this.tailBytes) this.compact();
  }

  /** What was kept. Without a gap, `head` holds everything and `tail` continues it. */
  read(): { readonly head: Uint8Array; readonly tail: Uint8Array; readonly droppedBytes: number } {
    this.compact();
    return { head: concat(this.head), tail: concat(this.tail), droppedBytes: this.droppedBytes };
  }

  private compact(): void {
    const all = concat(this.tail);
    const kept = all.subarray(Math.max(0, all.length - this.tailBytes));
    this.tail = kept.length > 0 ? [copyOf(kept)] : [];
    this.tailLength = kept.length;
  }
}

/** `slice` copies only of a plain Uint8Array: that of a Buffer gives the same memory. */
const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, c) => sum + c.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
