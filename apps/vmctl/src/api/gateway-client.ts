import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { parseDto } from '@inquest/config';
import { errorFromBody, type DtoClass, type DomainError } from '@inquest/kernel';
import { cliError } from '../errors';
import { findPlatform, type Environment, type PlatformAddress } from './platform-address';

/** The longest long poll of the gateway plus what a busy machine may add. */
const CALL_TIMEOUT_MS = 120_000;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the client's own. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** The gateway's REST interface. Answers are checked against their DTO; problems come back as the errors they carry. */
export class GatewayClient {
  private address: Promise<PlatformAddress> | null = null;

  /** `signal` ends every request. */
  constructor(
    private readonly env: Environment,
    private readonly signal: AbortSignal,
  ) {}

  /** One JSON request. Throws what the platform answers, `CLI_PLATFORM_DOWN`, `CLI_ANSWER_INVALID`. */
  async call<T extends object>(
    Answer: DtoClass<T>,
    method: Method,
    path: string,
    options: CallOptions = {},
  ): Promise<T> {
    const payload = options.body === undefined ? null : Buffer.from(JSON.stringify(options.body));
    const response = await this.open(method, path, { timeoutMs: CALL_TIMEOUT_MS, ...options }, payload);
    const body = await text(response);
    try {
      return parseDto(Answer, JSON.parse(body), { unknown: 'strip' });
    } catch (e) {
      throw cliError('CLI_ANSWER_INVALID', `${method} ${path} was answered with something unexpected`, { path }, e);
    }
  }

  /** A request whose answer is a stream of bytes, and whose body may be one. */
  stream(
    method: Method,
    path: string,
    options: CallOptions = {},
    body: Readable | null = null,
  ): Promise<IncomingMessage> {
    if (body !== null) return this.open(method, path, options, body);
    return this.open(
      method,
      path,
      options,
      options.body === undefined ? null : Buffer.from(JSON.stringify(options.body)),
    );
  }

  /**
   * Opens a WebSocket at `path`; `opening` gets it before anything can have come. Throws what the gateway refuses with,
   * and `CLI_PLATFORM_DOWN`.
   */
  async webSocket(path: string, protocols: string[], opening: (socket: WebSocket) => void): Promise<void> {
    this.address ??= findPlatform(this.env);
    const { url } = await this.address;
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, protocols, {
      handshakeTimeout: CALL_TIMEOUT_MS,
      perMessageDeflate: false,
    });
    opening(socket);
    const end = (): void => socket.close();
    this.signal.addEventListener('abort', end, { once: true });
    socket.once('close', () => this.signal.removeEventListener('abort', end));
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (_, response) => void problem(response, 'GET', path).then(reject, reject));
      socket.once('error', (e) => {
        reject(cliError('CLI_PLATFORM_DOWN', `the gateway at ${url} does not answer: ${reasonOf(e)}`, { url }, e));
      });
    });
  }

  private async open(
    method: Method,
    path: string,
    options: CallOptions,
    body: Buffer | Readable | null,
  ): Promise<IncomingMessage> {
    this.address ??= findPlatform(this.env);
    const { url, token } = await this.address;
    const target = new URL(`${url}${path}${queryString(options.query)}`);
    const signal = options.signal ?? this.signal;
    const response = await send(target, method, token, { ...options, signal }, body).catch((e: unknown) => {
      if (signal.aborted) throw e;
      throw cliError('CLI_PLATFORM_DOWN', `the gateway at ${url} does not answer: ${reasonOf(e)}`, { url }, e);
    });
    if ((response.statusCode ?? 500) < 400) return response;
    throw await problem(response, method, path);
  }
}

function send(
  url: URL,
  method: Method,
  token: string,
  { signal, timeoutMs, headers }: CallOptions,
  body: Buffer | Readable | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const type = body instanceof Buffer ? 'application/json' : 'application/octet-stream';
    const request = httpRequest(url, {
      method,
      // A connection of its own: the shared agent would call one that is quiet for five seconds timed out.
      agent: false,
      headers: { ...headers, authorization: `Bearer ${token}`, ...(body === null ? {} : { 'content-type': type }) },
      ...(signal ? { signal } : {}),
    });
    request.once('response', resolve);
    request.once('error', reject);
    if (timeoutMs !== undefined) {
      request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    }
    if (body === null || body instanceof Buffer) request.end(body ?? undefined);
    // A refused upload breaks the pipe; the answer says why.
    else void pipeline(body, request).catch(() => undefined);
  });
}

function queryString(query: CallOptions['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => {
    if (value === null) return [];
    return (Array.isArray(value) ? (value as readonly string[]) : [String(value)]).map((item): [string, string] => [
      key,
      item,
    ]);
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

async function problem(response: IncomingMessage, method: Method, path: string): Promise<DomainError> {
  const body = await text(response).catch(() => '');
  const parsed = parseJson(body);
  const error = errorFromBody(parsed === null ? null : { ...parsed, message: parsed['detail'] ?? parsed['message'] });
  return (
    error ??
    cliError('CLI_ANSWER_INVALID', `${method} ${path} was answered with status ${response.statusCode}`, { path })
  );
}

function parseJson(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const reasonOf = (e: unknown): string =>
  e instanceof Error ? e.message || (e as NodeJS.ErrnoException).code || '' : String(e);
