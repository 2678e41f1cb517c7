import { messagingError } from '@inquest/messaging';
import { agentError } from '@inquest/contracts-agent';
import { retryUnavailable } from './retry-unavailable';

const away = messagingError('RPC_NO_RESPONDER', 'nobody answers');
const never = new AbortController().signal;

describe('retryUnavailable', () => {
  it('repeats the work until the service is back', async () => {
    const work = jest.fn().mockRejectedValueOnce(away).mockResolvedValueOnce('done');
    await expect(retryUnavailable(work, { withinMs: 60_000, signal: never })).resolves.toBe('done');
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('throws an answer of the service at once', async () => {
    const answer = agentError('SESSION_UNKNOWN', 'none');
    const work = jest.fn().mockRejectedValue(answer);
    await expect(retryUnavailable(work, { withinMs: 60_000, signal: never })).rejects.toBe(answer);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('throws the last failure when the time is up', async () => {
    const work = jest.fn().mockRejectedValue(away);
    await expect(retryUnavailable(work, { withinMs: 100, signal: never })).rejects.toBe(away);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('stops waiting as soon as it is cancelled', async () => {
    const cancel = new AbortController();
    const work = jest.fn(() => {
      setImmediate(() => cancel.abort());
      return Promise.reject(away);
    });
    const retried = retryUnavailable(work, { withinMs: 600_000, signal: cancel.signal });
    await expect(retried).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(work).toHaveBeenCalledTimes(1);
  });
});
