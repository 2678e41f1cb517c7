/** Longest line of a monitor: the largest answers of QEMU (`query-qmp-schema`) are about 200 KiB. */
export const MAX_LINE_BYTES = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts a byte stream into lines, however the stream is chunked. Holds at most `maxLineBytes` of an unfinished line
 * and looks at each byte once.
 */
export class LineSplitter {
  private readonly pending: Uint8Array[] = [];
  private pendingBytes = 0;

  constructor(private readonly maxLineBytes: number) {}

  /**
   * The lines that `chunk` completes, without CR and LF; empty ones are left out. The last item is null when the line
   * after the others is over the limit: the splitter is of no use then.
   */
  *push(chunk: Uint8Array): Generator<string | null> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.pendingBytes + end - start > this.maxLineBytes) {
        yield null;
        return;
      }
      const line = this.finish(chunk.subarray(start, end));
      if (line !== '') yield line;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    if (this.pendingBytes + rest.length > this.maxLineBytes) {
      yield null;
      return;
    }
    if (rest.length === 0) return;
    this.pending.push(new Uint8Array(rest));
    this.pendingBytes += rest.length;
  }

  private finish(last: Uint8Array): string {
    const bytes = Buffer.concat([...this.pending, last]);
    this.pending.length = 0;
    this.pendingBytes = 0;
    const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
    return bytes.toString('utf8', 0, end);
  }
}
