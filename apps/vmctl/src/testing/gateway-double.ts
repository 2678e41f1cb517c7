import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the double saw it. Its body is there once it was read to its end. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  body: string;
}

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export const TOKEN = 'the-token';

/** A gateway over real HTTP that says what a test wants it to say. */
export class GatewayDouble {
  readonly requests: SeenRequest[] = [];
  private readonly answers: (readonly [method: string, path: string, answer: Answerer])[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<GatewayDouble> {
    const server = createServer((request, response) => double.take(request, response));
    const double = new GatewayDouble(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** How vmctl finds it. */
  get environment(): Readonly<Record<string, string>> {
    return { INQUEST_URL: this.url, INQUEST_TOKEN: TOKEN };
  }

  /** The next request to this path is answered so. The answers to one path are used up in order; the last one stays. */
  on(method: string, path: string, answer: Answerer | object): this {
    const answerer: Answerer =
      typeof answer === 'function' ? (answer as Answerer) : (_, response) => sendJson(response, 200, answer);
    this.answers.push([method, path, answerer]);
    return this;
  }

  /** Forgets all answers and requests. */
  reset(): void {
    this.answers.length = 0;
    this.requests.length = 0;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const seen: SeenRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: '',
    };
    this.requests.push(seen);
    request.on('data', (chunk: Buffer) => (seen.body += chunk.toString('utf8')));
    const path = seen.url.split('?')[0];
    const fitting = this.answers.filter(([method, wanted]) => method === seen.method && wanted === path);
    const [chosen] = fitting;
    if (chosen === undefined) {
      sendProblem(response, 404, 'HTTP_ROUTE_UNKNOWN', `nothing answers ${seen.method} ${seen.url}`);
      return;
    }
    if (fitting.length > 1) this.answers.splice(this.answers.indexOf(chosen), 1);
    void chosen[2](request, response);
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A problem body as every service of the platform sends it. */
export function sendProblem(response: ServerResponse, status: number, code: string, detail: string): void {
  sendJson(response, status, { code, status, detail, fault: 'caller', remediation: 'Do it otherwise.', details: {} });
}
