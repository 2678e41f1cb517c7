import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TERMINAL_PROTOCOL, TERMINAL_TICKET_PREFIX, vmError } from '@inquest/contracts-vm';
import { HTTP_OPTIONS, httpError, serveUpgrades, type HttpOptions, type Upgrade } from '@inquest/http';
import { DomainError, errorFromBody } from '@inquest/kernel';
import { currentTraceId, TRACE_HEADER } from '@inquest/logging';
import { VmClient } from '@inquest/vm-client';

const SOCKET_PATH = /^\/v1\/machines\/([A-Za-z0-9_-]{1,64})\/terminal-socket$/;
const TICKET = /^[A-Za-z0-9_-]{1,64}$/;
/** How long the node of a machine has to answer. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** What a node answered to the handshake of a WebSocket. */
interface Accepted {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Passes the WebSockets of terminals on to the node of their machine, byte by byte: nothing of them is held or looked
 * at here. A ticket, good once, is in place of the bearer token that browsers cannot send with them; it is offered as
 * a subprotocol, so that it is in no address and in no log of addresses.
 */
@Injectable()
export class TerminalPassage implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly open = new Set<Duplex>();

  constructor(
    private readonly machines: VmClient,
    private readonly http: HttpAdapterHost,
    @Inject(HTTP_OPTIONS) private readonly options: HttpOptions,
  ) {}

  onApplicationBootstrap(): void {
    const server = this.http.httpAdapter.getHttpServer() as Server;
    serveUpgrades(server, this.options.allowedHosts ?? [], (upgrade) => this.accept(upgrade));
  }

  /** A server that closes waits for upgraded connections; their viewers attach again, elsewhere or later. */
  beforeApplicationShutdown(): void {
    for (const socket of this.open) socket.destroy();
  }

  private async accept(upgrade: Upgrade): Promise<void> {
    const { pathname } = new URL(upgrade.request.url ?? '', 'http://localhost');
    const machineId = SOCKET_PATH.exec(pathname)?.[1];
    if (machineId === undefined) {
      throw httpError('HTTP_ROUTE_UNKNOWN', `nothing is upgraded at ${pathname.slice(0, 80)}`);
    }
    const { url } = await this.machines.locateTerminal({ machineId, ticket: ticketOf(upgrade.request) });
    const accepted = await handshake(url, upgrade.request);
    await this.join(upgrade, accepted);
  }

  /** Until one side closes. */
  private async join({ socket: viewer, head }: Upgrade, accepted: Accepted): Promise<void> {
    const { socket: node } = accepted;
    const both = [viewer, node];
    for (const socket of both) this.open.add(socket);
    try {
      viewer.write(switchingProtocols(accepted.response));
      if (accepted.head.length > 0) viewer.write(accepted.head);
      if (head.length > 0) node.write(head);
      await Promise.race([pipeline(viewer, node), pipeline(node, viewer)]).catch(() => undefined);
    } finally {
      for (const socket of both) {
        socket.destroy();
        this.open.delete(socket);
      }
    }
  }
}

/** Throws `STREAM_TICKET_INVALID` when none is offered. */
function ticketOf({ headers }: IncomingMessage): string {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const ticket = offered.find((name) => name.startsWith(TERMINAL_TICKET_PREFIX))?.slice(TERMINAL_TICKET_PREFIX.length);
  if (ticket !== undefined && TICKET.test(ticket) && offered.includes(TERMINAL_PROTOCOL)) return ticket;
  throw vmError(
    'STREAM_TICKET_INVALID',
    `the WebSocket does not offer ${TERMINAL_PROTOCOL} and ${TERMINAL_TICKET_PREFIX} with a ticket behind it`,
  );
}

/** Opens the node's end. Throws what the node refuses with, and `NODE_UNAVAILABLE`. */
function handshake(url: string, { headers }: IncomingMessage): Promise<Accepted> {
  const traceId = currentTraceId();
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': headers['sec-websocket-key'] ?? '',
        'sec-websocket-version': headers['sec-websocket-version'] ?? '',
        'sec-websocket-protocol': TERMINAL_PROTOCOL,
        ...(traceId === null ? {} : { [TRACE_HEADER]: traceId }),
      },
    });
    const late = setTimeout(() => asked.destroy(new Error('no answer')), HANDSHAKE_TIMEOUT_MS);
    asked.once('close', () => clearTimeout(late));
    asked.once('error', (e) => reject(unavailable(e)));
    asked.once('upgrade', (response, socket, head) => {
      clearTimeout(late);
      // The close that follows is what matters.
      socket.on('error', () => undefined);
      resolve({ response, socket, head });
    });
    asked.once('response', (response) => {
      refusalOf(response).then(reject, (e: unknown) => reject(unavailable(e)));
    });
    asked.end();
  });
}

async function refusalOf(response: IncomingMessage): Promise<DomainError> {
  const body = JSON.parse(await text(response)) as Record<string, unknown>;
  return errorFromBody({ ...body, message: body['detail'] }) ?? unavailable(null);
}

const unavailable = (cause: unknown): DomainError =>
  vmError('NODE_UNAVAILABLE', 'the node of the machine does not open the terminal', {}, cause);

function switchingProtocols({ headers }: IncomingMessage): string {
  const protocol = headers['sec-websocket-protocol'];
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${headers['sec-websocket-accept'] ?? ''}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
