import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { toDomainError } from '@inquest/kernel';
import { runWithTrace, TRACE_HEADER, traceIdFrom } from '@inquest/logging';
import { problemBody } from './problem.filter';
import { checkSameSite } from './same-site';

/** A request to go on in another protocol, such as a WebSocket. Whoever accepts it owns `socket`. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent of the new protocol already. */
  readonly head: Buffer;
}

/**
 * Serves the upgrades of a server, which no middleware, guard or filter sees: those of other sites are refused as for
 * requests, and what `accept` throws is answered as a problem. Such connections are left to whoever accepted them: a
 * closing server waits for them.
 */
export function serveUpgrades(
  server: Server,
  allowedHosts: readonly string[],
  accept: (upgrade: Upgrade) => Promise<void>,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Before it is accepted, a client that goes away is no news to anybody.
    socket.on('error', () => undefined);
    const admit = async (): Promise<void> => {
      checkSameSite(request.headers, allowedHosts);
      await accept({ request, socket, head });
    };
    runWithTrace(traceIdFrom(request.headers[TRACE_HEADER.toLowerCase()]), () => {
      admit().catch((e: unknown) => refuse(socket, e));
    });
  });
}

function refuse(socket: Duplex, e: unknown): void {
  const problem = problemBody(toDomainError(e));
  const body = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
