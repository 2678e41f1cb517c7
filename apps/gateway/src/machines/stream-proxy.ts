import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { StreamTicket } from '@inquest/contracts-base';
import { vmError } from '@inquest/contracts-vm';
import { httpError } from '@inquest/http';
import { currentTraceId, TRACE_HEADER } from '@inquest/logging';

/** A stream on which nothing moves for this long, in either direction, is given up. */
const IDLE_TIMEOUT_MS = 3_600_000;
const PASSED_HEADERS = ['content-type', 'retry-after'] as const;

/**
 * Passes one byte stream through, both ways, without holding any of it: `input` goes to the ticket's address, its answer
 * (status, type and body) goes to the caller. The caller's hanging up ends the other side, and the other way round. An
 * answer that comes before all of the input was taken, such as a refusal, still reaches the caller. Throws
 * `NODE_UNAVAILABLE` when the address cannot be reached.
 */
export async function passThrough(ticket: StreamTicket, input: Request | null, answer: Response): Promise<void> {
  const upstream = open(ticket);
  const hangUp = (): void => void upstream.destroy();
  answer.once('close', hangUp);
  // The close of a caller that is gone already was told before anybody listened.
  if (answer.destroyed) return hangUp();
  try {
    send(input, upstream);
    const received = await firstAnswer(upstream, answer);
    if (received === null) return;
    answer.status(received.statusCode ?? 502);
    for (const header of PASSED_HEADERS) {
      const value = received.headers[header];
      if (value !== undefined) answer.setHeader(header, value);
    }
    answer.flushHeaders();
    // After the headers there is no way to say what went wrong but to cut the stream.
    await pipeline(received, answer).catch(() => answer.destroy());
  } finally {
    // What of the input is still on its way is read and dropped: to cut it would cut the answer, too.
    input?.unpipe(upstream);
    input?.resume();
    upstream.destroy();
  }
}

/** Throws `HTTP_MEDIA_UNSUPPORTED` when the body was taken for a JSON request and is not there to be streamed any more. */
export function requireStream(caller: Request): Request {
  if (!caller.readableEnded && !caller.is('json')) return caller;
  throw httpError(
    'HTTP_MEDIA_UNSUPPORTED',
    'the body of this request is a stream of bytes: send it as application/octet-stream',
  );
}

function open({ url, method }: StreamTicket): ClientRequest {
  const traceId = currentTraceId();
  const upstream = httpRequest(url, {
    method,
    headers: traceId === null ? {} : { [TRACE_HEADER]: traceId },
    timeout: IDLE_TIMEOUT_MS,
    // A connection of its own, because one that is reused may have been closed in the meantime. Not announced as such:
    // the other side would close it with its answer, and a refusal would be lost in the input that is on its way.
    agent: new Agent({ keepAlive: true }),
  });
  upstream.on('timeout', () => upstream.destroy(new Error('nothing moved on the stream')));
  // Before the answer, `firstAnswer` tells of it; after it, the answer's own stream does.
  upstream.on('error', () => undefined);
  return upstream;
}

function send(input: Request | null, upstream: ClientRequest): void {
  if (input === null) {
    upstream.end();
    return;
  }
  // What is asked for must not wait for the first byte of the input: a command may never read any.
  upstream.flushHeaders();
  input.pipe(upstream);
}

/** Null when the caller hung up before there was one. */
async function firstAnswer(upstream: ClientRequest, answer: Response): Promise<IncomingMessage | null> {
  try {
    const [received] = (await once(upstream, 'response')) as [IncomingMessage];
    return received;
  } catch (e) {
    if (answer.destroyed) return null;
    throw vmError('NODE_UNAVAILABLE', 'the service behind the stream closed it before it answered', {}, e);
  }
}
