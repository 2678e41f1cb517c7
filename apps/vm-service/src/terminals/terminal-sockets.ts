import type { Server } from 'node:http';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { WebSocketServer } from 'ws';
import { TERMINAL_PROTOCOL } from '@inquest/contracts-vm';
import { HTTP_OPTIONS, httpError, serveUpgrades, UrlSigner, type HttpOptions, type Upgrade } from '@inquest/http';
import { TERMINAL_LIMITS, type TerminalLimits } from './terminal-limits';
import { TERMINAL_PATH, Terminals } from './terminals.service';
import { ViewerConnection } from './viewer-connection';

/** One message of a viewer; a paste that is longer comes in several. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Close code of RFC 6455, section 7.4.1: the server goes down. */
const CLOSE_GOING_AWAY = 1001;
/** How long a viewer has to take its leave from a service that stops. */
const GOODBYE_MS = 500;

/** The WebSockets of terminals: a signed address, with a ticket that is good once. */
@Injectable()
export class TerminalSockets implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(TERMINAL_PROTOCOL) && TERMINAL_PROTOCOL,
  });

  constructor(
    private readonly terminals: Terminals,
    private readonly signer: UrlSigner,
    private readonly http: HttpAdapterHost,
    @Inject(HTTP_OPTIONS) private readonly options: HttpOptions,
    @Inject(TERMINAL_LIMITS) private readonly limits: TerminalLimits,
  ) {}

  onApplicationBootstrap(): void {
    const server = this.http.httpAdapter.getHttpServer() as Server;
    serveUpgrades(server, this.options.allowedHosts ?? [], (upgrade) => Promise.resolve(this.accept(upgrade)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    const closed = [...this.server.clients].map(
      (socket) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(() => socket.terminate(), GOODBYE_MS);
          socket.once('close', () => {
            clearTimeout(timer);
            resolve();
          });
          socket.close(CLOSE_GOING_AWAY, 'vm-service is stopping');
        }),
    );
    await Promise.all(closed);
  }

  private accept({ request, socket, head }: Upgrade): void {
    const originalUrl = request.url ?? '';
    const { pathname } = new URL(originalUrl, 'http://localhost');
    if (!pathname.startsWith(TERMINAL_PATH)) {
      throw httpError('HTTP_ROUTE_UNKNOWN', `nothing is upgraded at ${pathname.slice(0, 80)}`);
    }
    this.signer.verify({ method: request.method ?? '', originalUrl });
    const { terminal, request: wish } = this.terminals.redeem(pathname.slice(TERMINAL_PATH.length));
    terminal.audience.requireRoom();
    this.server.handleUpgrade(request, socket, head, (webSocket) => {
      new ViewerConnection(webSocket, terminal, wish, this.limits.pingMs);
    });
  }
}
