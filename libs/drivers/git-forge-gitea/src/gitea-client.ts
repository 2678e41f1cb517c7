import { gitForgeError } from '@inquest/git-forge';
import {
  deadlineSignal,
  delay,
  isDomainError,
  kernelError,
  systemClock,
  type DomainError,
  type DtoClass,
} from '@inquest/kernel';
import { parseJson, readBoundedText } from './bounded-body';
import type { GiteaAddress } from './gitea-address';
import { isTransientStatus, notGitea, refusalError } from './gitea-failure';
import type { UploadBody } from './multipart';
import { parseAnswer } from './parse-answer';
import { delayMsAfter, MAX_RETRY_AFTER_MS, retryAfterMs, type Patience } from './patience';
import { shownText, type TokenFile } from './token-file';

/** One request to the API. */
export interface GiteaRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`; each segment is escaped. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number>>;
  readonly json?: object;
  /** False: sent once, because it may have been done although no answer came, and its caller looks first. */
  readonly isRepeated?: false;
  /** Streamed, therefore sent once; `json` is sent again after a transient failure. */
  readonly upload?: UploadBody;
  /** Statuses besides 2xx that are results. */
  readonly accept?: readonly number[];
}

/** What Gitea answered: 2xx or an accepted status. */
export interface GiteaAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Of all pages of a list; null when the answer does not say. */
  readonly totalCount: number | null;
  /** The repository has another name or owner than it was asked for by. */
  readonly isRedirected: boolean;
}

const ATTEMPT_TIMEOUT_MS = 20_000;
const UPLOAD_TIMEOUT_MS = 600_000;
/** A repository that was renamed twice, and one more. */
const MAX_REDIRECTS = 3;
const PAGE_LENGTH = 50; // the default of Gitea's MAX_RESPONSE_ITEMS
const MAX_PAGES = 40;

type Outcome =
  | { readonly answer: GiteaAnswer }
  /** May succeed when it is repeated. */
  | { readonly failure: DomainError; readonly retryAfterMs: number | null };

/**
 * Gitea's REST API: bounded answers, deadlines, repetition of what failed for a while. The token goes to the configured
 * origin only. Requests that make something may arrive twice; their callers take the 409 of the second for a success.
 */
export class GiteaClient {
  constructor(
    private readonly address: GiteaAddress,
    private readonly tokenFile: TokenFile,
    private readonly patience: Patience,
  ) {}

  /**
   * Rejects with `FORGE_UNAVAILABLE` when patience ends, with `FORGE_TOKEN_UNREADABLE`, `FORGE_TOKEN_REJECTED`,
   * `FORGE_SCOPE_MISSING`, `FORGE_REPOSITORY_UNUSABLE`, `FORGE_REQUEST_REFUSED`, `FORGE_RESPONSE_INVALID` or
   * `OPERATION_ABORTED`.
   */
  async request(request: GiteaRequest, signal: AbortSignal): Promise<GiteaAnswer> {
    const isRepeated = request.upload === undefined && request.isRepeated !== false;
    const attempts = isRepeated ? this.patience.attempts : 1;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.attempt(request, signal);
      if ('answer' in outcome) return outcome.answer;
      const waitMs = outcome.retryAfterMs ?? delayMsAfter(attempt, this.patience);
      if (attempt >= attempts || waitMs > MAX_RETRY_AFTER_MS) throw outcome.failure;
      await delay(waitMs, signal);
    }
  }

  /** A request whose answer is one object. `FORGE_RESPONSE_INVALID` when it has not the documented shape. */
  async object<T extends object>(Answer: DtoClass<T>, request: GiteaRequest, signal: AbortSignal): Promise<T> {
    return parseAnswer(Answer, (await this.request(request, signal)).body, describe(request));
  }

  /** `object`, or null when Gitea says 404. */
  async find<T extends object>(Answer: DtoClass<T>, request: GiteaRequest, signal: AbortSignal): Promise<T | null> {
    const { status, body } = await this.request({ ...request, accept: [404] }, signal);
    return status === 404 ? null : parseAnswer(Answer, body, describe(request));
  }

  /** Every item of a list, page by page. Pages are counted here: an address in a `Link` header is not followed. */
  async list<T extends object>(
    Answer: DtoClass<T>,
    request: Pick<GiteaRequest, 'path' | 'query'>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const items: T[] = [];
    for await (const page of this.pages(Answer, request, signal)) items.push(...page);
    return items;
  }

  /**
   * The items of a list, page by page, until the caller has what it looks for. `FORGE_RESPONSE_INVALID` when the list has
   * no end.
   */
  async *pages<T extends object>(
    Answer: DtoClass<T>,
    { path, query }: Pick<GiteaRequest, 'path' | 'query'>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    let count = 0;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const request = { method: 'GET', path, query: { ...query, page, limit: PAGE_LENGTH } } as const;
      const { body, totalCount } = await this.request(request, signal);
      if (!Array.isArray(body)) throw notGitea(describe(request), 'is no list');
      yield body.map((item: unknown) => parseAnswer(Answer, item, describe(request)));
      count += body.length;
      if (body.length === 0 || (totalCount !== null && count >= totalCount)) return;
    }
    throw notGitea(`GET /${path.join('/')}`, `has more than ${MAX_PAGES} pages`);
  }

  private async attempt(request: GiteaRequest, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) throw aborted(request, signal);
    const token = await this.tokenFile.read();
    try {
      const timeoutMs = request.upload === undefined ? ATTEMPT_TIMEOUT_MS : UPLOAD_TIMEOUT_MS;
      return await this.exchange(request, token, deadlineSignal(timeoutMs, signal));
    } catch (e) {
      if (signal.aborted) throw aborted(request, signal);
      const known = domainErrorIn(e);
      if (known !== null) throw known;
      const message = `${describe(request)} did not reach Gitea at ${this.address.href}: ${connectionFault(e)}`;
      return { failure: gitForgeError('FORGE_UNAVAILABLE', message, {}, e), retryAfterMs: null };
    }
  }

  private async exchange(request: GiteaRequest, token: string, signal: AbortSignal): Promise<Outcome> {
    let url = this.address.api(request.path, request.query);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, requestInit(request, token, signal));
      if (!isRedirect(response.status)) return outcomeOf(request, response, token, redirects > 0);
      await response.body?.cancel();
      const target = this.address.redirectTarget(url, response.headers.get('location'));
      // Only a read is asked elsewhere; what changes something goes to an address that was read before.
      if (target === null || request.method !== 'GET' || redirects >= MAX_REDIRECTS) {
        throw notGitea(describe(request), 'is a redirect that is not followed');
      }
      url = target;
    }
  }
}

function requestInit({ method, json, upload }: GiteaRequest, token: string, signal: AbortSignal): RequestInit {
  const contentType = upload?.contentType ?? (json === undefined ? null : 'application/json');
  return {
    method,
    redirect: 'manual',
    signal,
    headers: {
      accept: 'application/json',
      authorization: `token ${token}`,
      ...(contentType === null ? {} : { 'content-type': contentType }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    // A stream has no length; Node demands to be told that it is sent before the answer is read.
    ...(upload === undefined ? {} : { body: upload.chunks, duplex: 'half' as const }),
  };
}

async function outcomeOf(
  request: GiteaRequest,
  response: Response,
  token: string,
  isRedirected: boolean,
): Promise<Outcome> {
  const { status, ok, headers } = response;
  const text = await readBoundedText(response);
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  const body = isJson ? parseJson(text) : undefined;
  if (ok || (request.accept?.includes(status) ?? false)) {
    if (ok && status !== 204 && body === undefined && text !== '') throw notGitea(describe(request), 'is no JSON');
    return { answer: { status, body, totalCount: countIn(headers), isRedirected } };
  }
  const failure = refusalError({ status, message: shownText(messageIn(body), token), request: describe(request) });
  if (!isTransientStatus(status)) throw failure;
  return { failure, retryAfterMs: retryAfterMs(headers.get('retry-after'), systemClock.nowMs()) };
}

const describe = ({ method, path }: Pick<GiteaRequest, 'method' | 'path'>): string => `${method} /${path.join('/')}`;

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

function countIn(headers: Headers): number | null {
  const value = headers.get('x-total-count');
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
}

const messageIn = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string'
    ? body.message.slice(0, 2_000)
    : '';

const aborted = (request: GiteaRequest, signal: AbortSignal): DomainError =>
  kernelError('OPERATION_ABORTED', `${describe(request)} at Gitea was cancelled`, {}, signal.reason);

/** An error of ours, also when `fetch` wrapped it because it came out of the body that was sent. */
function domainErrorIn(e: unknown): DomainError | null {
  if (isDomainError(e)) return e;
  return e instanceof Error && isDomainError(e.cause) ? e.cause : null;
}

/** Why there was no answer. `fetch` says "fetch failed" and has the reason in its cause. */
function connectionFault(e: unknown): string {
  if (!(e instanceof Error)) return 'unknown reason';
  if (e.name === 'TimeoutError') return 'no answer in time';
  return e.cause instanceof Error ? e.cause.message : e.message;
}
