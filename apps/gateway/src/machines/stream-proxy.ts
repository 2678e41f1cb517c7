import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { StreamTicket } from '@inquest/contracts-shared';
import { vmError } from '@inquest/contracts-vm';

/** A stream on which nothing moves for this long, in either direction, is given up. */
const IDLE_TIMEOUT_MS = 3_600_000;

/**
 * Passes one byte stream through, both ways, without holding any of it: the caller's body goes to the ticket's
 * address, its answer (status, type and body) goes to the caller. The caller's hanging up ends the other side, and the
 * other way round. Throws `NODE_UNAVAILABLE` when the address cannot be reached.
 */
export async function passThrough(ticket: StreamTicket, caller: Request, answer: Response): Promise<void> {
  const upstream = httpRequest(ticket.url, {
    method: ticket.method,
    headers: caller.headers['content-type'] === undefined ? {} : { 'content-type': 'application/octet-stream' },
    timeout: IDLE_TIMEOUT_MS,
  });
  upstream.on('timeout', () => upstream.destroy(new Error('nothing moved on the stream')));
  answer.on('close', () => upstream.destroy());
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', reject);
  });
  // The body may still be on its way when the answer begins, and may be cut short by it.
  const sent = pipeline(caller, upstream).catch(() => undefined);
  const received = await response.catch((e: unknown) => {
    throw vmError('NODE_UNAVAILABLE', 'the node that owns the machine closed the stream before it answered', {}, e);
  });
  answer.status(received.statusCode ?? 502);
  for (const header of PASSED_HEADERS) {
    const value = received.headers[header];
    if (value !== undefined) answer.setHeader(header, value);
  }
  answer.flushHeaders();
  // After the headers there is no way to say what went wrong but to cut the stream.
  await pipeline(received, answer).catch(() => answer.destroy());
  await sent;
}

const PASSED_HEADERS = ['content-type', 'x-inquest-sha256', 'retry-after'] as const;
