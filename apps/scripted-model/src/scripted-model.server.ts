import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId, withDeadline } from '@inquest/kernel';
import { ApiFailure } from './api-failure';
import { ChatReply } from './chat-reply';
import { parseChatRequest } from './chat-request';
import { turnAfter, type Scenario } from './scenario';

/** The name that a client must ask for. */
export const SCRIPTED_MODEL_NAME = 'scripted';

export interface ScriptedModelOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly scenario: Scenario;
  /** Bearer key that clients must send; null accepts any. */
  readonly key: string | null;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024; // a conversation of a hundred turns with whole files in it
const BODY_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;

/** An HTTP server that speaks the OpenAI API of chat completions and plays a scenario. It remembers nothing between requests. */
export class ScriptedModelServer {
  private readonly server: Server;

  constructor(private readonly options: ScriptedModelOptions) {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  /** Listens; gives the URL, without a path. Rejects when the address is taken. */
  async listen(): Promise<string> {
    this.server.listen(this.options.port, this.options.host);
    await once(this.server, 'listening');
    const { address, family, port } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Takes no new connection, lets running answers end, then closes what is left after 5 s. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeIdleConnections();
    await withDeadline(closed, CLOSE_TIMEOUT_MS, 'the last answer').catch(() => this.server.closeAllConnections());
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.authorize(request);
      await this.route(request, response);
    } catch (e) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      // What is left of a body that nobody reads would keep the connection busy.
      if (!request.complete) response.shouldKeepAlive = false;
      response.once('finish', () => request.complete || request.destroy());
      const failure = e instanceof ApiFailure ? e : new ApiFailure(500, 'the scripted model failed');
      sendJson(response, failure.status, failure.body());
    }
  }

  private async route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [pathname = ''] = (request.url ?? '').split('?');
    if (request.method === 'GET' && pathname === '/v1/models') return sendJson(response, 200, modelList());
    if (request.method === 'POST' && pathname === '/v1/chat/completions') return this.complete(request, response);
    throw new ApiFailure(404, `Invalid URL (${request.method ?? ''} ${pathname})`, 'unknown_url');
  }

  private async complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chat = parseChatRequest(parseJson(await readBody(request)));
    if (chat.model !== SCRIPTED_MODEL_NAME) {
      throw new ApiFailure(404, `The model '${chat.model}' does not exist`, 'model_not_found', 'model');
    }
    const turn = turnAfter(this.options.scenario, chat.turnsSoFar, chat.asked);
    const reply = new ChatReply(newId('chatcmpl'), Date.now(), chat, turn);
    if (!chat.stream) return sendJson(response, 200, reply.whole());
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    for (const chunk of reply.chunks()) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  }

  private authorize({ headers }: IncomingMessage): void {
    const { key } = this.options;
    if (key === null || sameText(headers.authorization ?? '', `Bearer ${key}`)) return;
    throw new ApiFailure(401, 'Incorrect API key provided.', 'invalid_api_key');
  }
}

const modelList = () => ({
  object: 'list',
  data: [{ id: SCRIPTED_MODEL_NAME, object: 'model', created: 0, owned_by: 'inquest' }],
});

// Digests have one length, so that the comparison tells nothing about the key.
const sameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const read = async (): Promise<string> => {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) throw new ApiFailure(413, 'the request is too large', 'request_too_large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  };
  return withDeadline(read(), BODY_TIMEOUT_MS, 'the body of a request');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFailure(400, 'We could not parse the JSON body of your request.');
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
