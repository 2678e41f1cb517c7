import { offline, problemOf } from './problem';
import { noteServerTime } from './server-clock';
import { readToken, writeToken } from './token';

/** The gateway's longest long poll, and what a busy machine may add. */
const CALL_TIMEOUT_MS = 120_000;

/** Parameters of a query; null ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly query?: Query;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The JSON answer of the gateway. Throws a `Problem`; a refused token is forgotten, so that the page asks for another. */
export async function callGateway<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const response = await openGateway(path, { ...options, signal });
  return (await response.json()) as T;
}

/** The answer with its body unread, for streams. Throws like `callGateway`. */
export async function openGateway(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', query = {}, body, headers = {}, signal } = options;
  const token = readToken();
  const response = await fetch(`${path}${queryString(query)}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
    cache: 'no-store',
    credentials: 'omit',
  }).catch((e: unknown) => {
    // An abort is the caller's own doing, not a problem to show.
    if (options.signal?.aborted) throw e;
    throw offline(e);
  });
  noteServerTime(response.headers.get('date'));
  if (response.ok) return response;
  if (response.status === 401) writeToken(null);
  throw problemOf(response.status, await response.json().catch(() => null));
}

/** `?a=b`, or nothing. */
export function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === null) continue;
    for (const item of Array.isArray(value) ? (value as readonly string[]) : [String(value)]) {
      parameters.append(key, item);
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** One segment of a path. */
export const segment = (value: string | number): string => encodeURIComponent(String(value));
