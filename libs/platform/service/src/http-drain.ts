import type { Server, ServerResponse } from 'node:http';

/** Requests over HTTP get this long to finish once the service stops; then their connections are cut. */
const HTTP_DRAIN_MS = 2_500;

/**
 * Lets a closing HTTP server end as soon as its last answer is sent. By itself it waits for every connection: those
 * that clients keep alive, and those of clients that listen to events for ever.
 */
export class HttpDrain {
  private cut: NodeJS.Timeout | null = null;

  /** Before the server takes its first request. */
  constructor(private readonly server: Server) {
    server.on('request', (_request, response: ServerResponse) => {
      response.once('close', () => {
        // Only after this turn does the server count the connection as idle.
        if (this.cut !== null) setImmediate(() => server.closeIdleConnections());
      });
    });
  }

  /** From now on no connection is kept alive, and none lives longer than 2.5 s. */
  begin(): void {
    this.cut ??= setTimeout(() => this.server.closeAllConnections(), HTTP_DRAIN_MS);
  }

  /** The server is closed. */
  end(): void {
    if (this.cut !== null) clearTimeout(this.cut);
  }
}
