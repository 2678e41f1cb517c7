import { endpointFailure } from './endpoint-failure';
import { retryPauseMs } from './retry';

const failure = (e: unknown) => endpointFailure(e, 'http://model/v1', (text) => text.replaceAll('key-1', '***'));

describe('endpointFailure', () => {
  it.each([
    [{ status: 401 }, 'MODEL_AUTH_FAILED'],
    [{ status: 403 }, 'MODEL_AUTH_FAILED'],
    [{ status: 404 }, 'MODEL_UNKNOWN'],
    [{ status: 429 }, 'MODEL_RATE_LIMITED'],
    [{ status: 400, code: 'context_length_exceeded' }, 'MODEL_CONTEXT_EXCEEDED'],
    [{ status: 400, message: '400 prompt is too long: 210000 tokens' }, 'MODEL_CONTEXT_EXCEEDED'],
    [{ status: 413 }, 'MODEL_CONTEXT_EXCEEDED'],
    [{ status: 400, message: 'tools are not supported' }, 'MODEL_REQUEST_REFUSED'],
    [{ status: 500 }, 'MODEL_UNREACHABLE'],
    [{ status: 503, message: 'context window worker is down' }, 'MODEL_UNREACHABLE'],
    [new SyntaxError('Unexpected token'), 'MODEL_REPLY_INVALID'],
    [new Error('Connection error.'), 'MODEL_UNREACHABLE'],
    ['thrown text', 'MODEL_UNREACHABLE'],
    [null, 'MODEL_UNREACHABLE'],
  ])('takes %j for %s', (e, code) => expect(failure(e)).toMatchObject({ code }));

  it('gives the innermost reason of a failed connection', () => {
    const cause = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });
    const e = new Error('Connection error.', { cause: new TypeError('fetch failed', { cause }) });
    expect(failure(e).message).toBe('the model endpoint http://model/v1 failed: connect failed (ECONNREFUSED)');
  });

  it('hides the key that the endpoint quotes, and bounds what it says', () => {
    const { message, cause } = failure({ status: 401, message: `bad key key-1 ${'x'.repeat(5000)}` });
    expect(message).toContain('bad key ***');
    expect(message.length).toBeLessThan(600);
    expect(cause).toBeUndefined();
  });
});

describe('retryPauseMs', () => {
  const limited = (retryAfter: string) => ({ status: 429, headers: new Headers({ 'retry-after': retryAfter }) });

  it('waits longer each time, up to a bound', () => {
    expect([0, 1, 2, 9].map((retries) => retryPauseMs({ status: 503 }, retries))).toEqual([500, 2000, 8000, 8000]);
  });

  it('waits as long as it is asked to, unless that looks like an exhausted quota', () => {
    expect(retryPauseMs(limited('7'), 0)).toBe(7000);
    expect(retryPauseMs(limited('3600'), 0)).toBeNull();
  });

  it.each([400, 401, 403, 404, 413, 422])('does not ask again after %d', (status) => {
    expect(retryPauseMs({ status }, 0)).toBeNull();
  });
});
