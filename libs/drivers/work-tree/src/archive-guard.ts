import { Transform, type TransformCallback } from 'node:stream';
import { workTreeError } from './errors';

/** Two blocks of zeros end a tar archive (POSIX.1-2017, pax, "ustar Interchange Format"). */
const END_MARK_BYTES = 1024;

/**
 * Passes a tar archive on and fails with `TREE_TOO_LARGE` after `maxBytes`, and with `TREE_ARCHIVE_INVALID` when it does
 * not end with its end mark: tar readers take a cut archive for a whole one, and then the tree looks as if files had been
 * deleted.
 */
export class ArchiveGuard extends Transform {
  private bytes = 0;
  private zeros = 0;

  constructor(private readonly maxBytes: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    const { maxBytes } = this;
    if (this.bytes > maxBytes) {
      done(workTreeError('TREE_TOO_LARGE', `the archive of the tree has more than ${maxBytes} bytes`, { maxBytes }));
      return;
    }
    const zeros = zerosAtEnd(chunk);
    this.zeros = zeros === chunk.length ? this.zeros + zeros : zeros;
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    if (this.zeros >= END_MARK_BYTES) done();
    else done(workTreeError('TREE_ARCHIVE_INVALID', 'the archive of the tree ends before its end mark'));
  }
}

/** Not looked at further than the end mark is long: a sparse file is gigabytes of zeros. */
function zerosAtEnd(chunk: Buffer): number {
  const last = Math.max(0, chunk.length - END_MARK_BYTES);
  let at = chunk.length;
  while (at > last && chunk[at - 1] === 0) at--;
  return chunk.length - at;
}
