import type { Readable, Writable } from 'node:stream';
import { FrameDecoder, guestReportedError, parseTailEof, parseTailStart, type Frame } from '@inquest/frame-protocol';
import { isDomainError } from '@inquest/kernel';

/** How far a tail came, and whether the guest ended it or the connection broke. */
export interface TailEnd {
  /** Where the next one goes on. */
  readonly offset: number;
  readonly isWhole: boolean;
}

/**
 * Copies a followed file to its sink as it comes, waiting for a slow one. Throws what the guest reported, and the reason
 * of `signal` when that ended the transport. `fromOffset` is what was asked for.
 */
export async function followTail(
  stream: Readable,
  sink: Writable,
  fromOffset: number,
  signal: AbortSignal,
): Promise<TailEnd> {
  const decoder = new FrameDecoder();
  let offset = fromOffset;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      for (const frame of decoder.push(chunk)) {
        if (frame.kind === 'data-from-guest') {
          await write(sink, frame.bytes);
          offset += frame.bytes.length;
        } else if (frame.kind === 'control') {
          const isEnd = frame.body['type'] === 'eof';
          offset = positionOf(frame, isEnd);
          if (isEnd) return { offset, isWhole: true };
        }
      }
    }
  } catch (e) {
    if (isDomainError(e)) throw e;
    signal.throwIfAborted();
  }
  return { offset, isWhole: false };
}

function positionOf({ body }: Extract<Frame, { readonly kind: 'control' }>, isEnd: boolean): number {
  if (body['type'] === 'error') throw guestReportedError(body);
  return (isEnd ? parseTailEof : parseTailStart)(body).offset;
}

function write(sink: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => sink.write(data, (e) => (e ? reject(e) : resolve())));
}
