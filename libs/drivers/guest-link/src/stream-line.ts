import { type Duplex } from 'node:stream';
import { kernelError } from '@inquest/kernel';
import { linkError } from './errors';

const NEWLINE = 0x0a;

/**
 * Reads one line, without its newline, and leaves everything after it in the stream. Rejects with
 * `LINK_HANDSHAKE_INVALID` when no newline comes within `maxBytes`, `LINK_CLOSED` when the stream ends or fails first,
 * `OPERATION_ABORTED` when `signal` aborts. After a failure the stream is of no more use: the caller destroys it.
 */
export function readLine(stream: Duplex, maxBytes: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = Buffer.alloc(0);
    const settle = (act: () => void): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onReadable = (): void => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        const cut = chunk.indexOf(NEWLINE);
        line = Buffer.concat([line, chunk.subarray(0, cut < 0 ? maxBytes + 1 : cut)]);
        if (line.length > maxBytes) return settle(() => reject(tooLong(maxBytes)));
        if (cut >= 0) {
          const rest = chunk.subarray(cut + 1);
          return settle(() => {
            if (rest.length > 0) stream.unshift(rest);
            resolve(line.toString('latin1'));
          });
        }
      }
    };
    const onEnd = (): void => settle(() => reject(linkError('LINK_CLOSED', 'the stream ended before its first line')));
    const onError = (e: Error): void =>
      settle(() => reject(linkError('LINK_CLOSED', 'the stream failed before its first line', {}, e)));
    const onAbort = (): void =>
      settle(() => reject(kernelError('OPERATION_ABORTED', 'cancelled before the first line', {}, signal.reason)));

    if (signal.aborted) return onAbort();
    if (stream.destroyed || stream.readableEnded) return onEnd();
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

const tooLong = (maxBytes: number): Error =>
  linkError('LINK_HANDSHAKE_INVALID', `the first line of a stream is longer than ${maxBytes} bytes`, { maxBytes });
