import { Writable } from 'node:stream';
import { HeadTailBuffer } from '@inquest/kernel';

/** Of each output, half of it head and half tail; what lies between is counted. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** One output of a command, as `--json` shows it. Bytes that are no UTF-8 are replaced. */
export interface KeptOutput {
  readonly text: string;
  readonly totalBytes: number;
  readonly droppedBytes: number;
}

/** A sink that keeps what fits into one JSON document. */
export class OutputKeeper extends Writable {
  private readonly buffer = new HeadTailBuffer(KEPT_BYTES / 2, KEPT_BYTES / 2);

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.buffer.write(chunk);
    done();
  }

  get kept(): KeptOutput {
    const { head, tail, droppedBytes } = this.buffer.read();
    const cut = droppedBytes === 0 ? '' : `\n[${droppedBytes} bytes left out]\n`;
    const text = Buffer.concat([head, Buffer.from(cut), tail]).toString('utf8');
    return { text, totalBytes: this.buffer.totalBytes, droppedBytes };
  }
}
