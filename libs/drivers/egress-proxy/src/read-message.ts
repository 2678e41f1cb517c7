import type { Duplex } from 'node:stream';
import { kernelError } from '@inquest/kernel';

/**
 * Hands what comes out of `stream` to `feed` until that gives a message; null when the stream ends or fails before.
 * Rejects with what `feed` throws, and with `OPERATION_ABORTED` as soon as `signal` aborts. Takes nothing from the stream
 * beyond the chunk that completed the message, and leaves it paused.
 */
export function readMessage<T>(
  stream: Duplex,
  feed: (chunk: Buffer) => T | null,
  signal: AbortSignal,
): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onReadable = (): void => {
      try {
        for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
          const message = feed(chunk);
          if (message !== null) return settle(() => resolve(message));
        }
      } catch (e) {
        settle(() => reject(e));
      }
    };
    const onEnd = (): void => settle(() => resolve(null));
    const onAbort = (): void =>
      settle(() =>
        reject(kernelError('OPERATION_ABORTED', 'cancelled before a whole message came', {}, signal.reason)),
      );

    if (signal.aborted) return onAbort();
    if (stream.destroyed || stream.readableEnded) return onEnd();
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
