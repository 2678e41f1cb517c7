import { isDomainError, type DomainError } from '@inquest/kernel';
import { modelError } from './errors';

/** What an SDK error tells, read by shape: its classes differ between the realms of a test runner. */
interface EndpointError {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

// The code of OpenAI, and the words of other providers' compatible endpoints.
const CONTEXT_EXCEEDED = /context_length_exceeded|maximum context length|prompt is too long|context (?:window|length)/i;
const MAX_REASON_LENGTH = 400;
const MAX_CAUSES = 4;

/**
 * Anything thrown while an endpoint was asked, as a `modelError` that holds no part of the request: `hide` takes the key
 * out of what the endpoint said.
 */
export function endpointFailure(e: unknown, endpoint: string, hide: (text: string) => string): DomainError {
  if (isDomainError(e)) return e;
  const error: EndpointError = typeof e === 'object' && e !== null ? e : {};
  const status = typeof error.status === 'number' ? error.status : null;
  const reason = hide(reasonOf(error)).slice(0, MAX_REASON_LENGTH);
  const said = status === null ? reason : `${status}: ${reason}`;
  return modelError(codeOf(status, error, reason), `the model endpoint ${endpoint} failed: ${said}`, {
    endpoint,
    status,
  });
}

function codeOf(status: number | null, { code, name }: EndpointError, reason: string): keyof typeof modelError.table {
  if (status === null) return name === 'SyntaxError' ? 'MODEL_REPLY_INVALID' : 'MODEL_UNREACHABLE';
  if (status === 413 || (status < 500 && CONTEXT_EXCEEDED.test(`${String(code)} ${reason}`)))
    return 'MODEL_CONTEXT_EXCEEDED';
  if (status === 401 || status === 403) return 'MODEL_AUTH_FAILED';
  if (status === 404) return 'MODEL_UNKNOWN';
  if (status === 429) return 'MODEL_RATE_LIMITED';
  return status >= 400 && status < 500 && status !== 408 ? 'MODEL_REQUEST_REFUSED' : 'MODEL_UNREACHABLE';
}

// "Connection error." says nothing; the reason (ECONNREFUSED, a certificate) is in the innermost cause.
function reasonOf(error: EndpointError): string {
  let innermost = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    const { cause } = innermost;
    if (typeof cause !== 'object' || cause === null) break;
    innermost = cause;
  }
  const code = typeof innermost.code === 'string' ? innermost.code : '';
  const message = typeof innermost.message === 'string' ? innermost.message : 'no reason given';
  return message.includes(code) ? message : `${message} (${code})`;
}
