import { Writable } from 'node:stream';

/** A stand-in for stdout or stderr that keeps what is written to it. */
export class CapturedOutput extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;

  constructor({ isTTY = false, columns = 80 }: { readonly isTTY?: boolean; readonly columns?: number } = {}) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}
