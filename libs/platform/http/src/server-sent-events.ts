import { once } from 'node:events';
import type { Response } from 'express';

/** A comment this often keeps proxies and clients from taking a quiet stream for a dead one. */
const KEEPALIVE_MS = 15_000;

/** One event of a stream. */
export interface ServerSentEvent {
  /** Its place, to resume behind; null for one that is in no stream. */
  readonly sequence: number | null;
  readonly body: object;
}

/**
 * Answers with server-sent events (WHATWG HTML, section 9.2) called `name`, until there are no more or the watcher hangs
 * up. A slow watcher slows its own stream, not our memory.
 */
export async function sendEvents(
  response: Response,
  name: string,
  events: AsyncIterable<ServerSentEvent>,
  gone: AbortSignal,
): Promise<void> {
  response.status(200).type('text/event-stream').setHeader('cache-control', 'no-store');
  response.flushHeaders();
  const keepalive = setInterval(() => {
    // A watcher that is behind sees by its own reading that the stream lives.
    if (!response.writableNeedDrain) response.write(': keepalive\n\n');
  }, KEEPALIVE_MS);
  try {
    for await (const { sequence, body } of events) {
      const place = sequence === null ? '' : `id: ${sequence}\n`;
      const isRoomLeft = response.write(`${place}event: ${name}\ndata: ${JSON.stringify(body)}\n\n`);
      if (!isRoomLeft) await once(response, 'drain', { signal: gone }).catch(() => undefined);
    }
  } finally {
    clearInterval(keepalive);
    response.end();
  }
}

/** A header that is not a sequence is ignored, as the standard says for unknown ids: the watcher starts over. */
export function resumeAfter(lastEventId: string | undefined): { fromSequence?: number } {
  const sequence = Number(lastEventId);
  return lastEventId !== undefined && Number.isSafeInteger(sequence) && sequence > 0
    ? { fromSequence: sequence + 1 }
    : {};
}

/** Aborts when the watcher hangs up. */
export function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  const hangUp = (): void => controller.abort(new Error('the watcher is gone'));
  if (response.destroyed) hangUp();
  else response.once('close', hangUp);
  return controller.signal;
}
