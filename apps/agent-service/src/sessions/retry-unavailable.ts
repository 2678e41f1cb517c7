import { delay, hasCode } from '@inquest/kernel';

/** Another service, or the way to it, is away for the moment; it may or may not have done what was asked. */
const UNAVAILABLE = [
  'RPC_NO_RESPONDER',
  'RPC_DISCONNECTED',
  'RPC_TIMEOUT',
  'RPC_SERVER_BUSY',
  'RPC_SERVER_STOPPING',
  'NODE_UNAVAILABLE',
] as const;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

export interface RetryOptions {
  /** After this long the last failure is thrown. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/**
 * Repeats `work` while a service that it needs is away, for example restarted; `work` must be right to do twice. Throws
 * every other failure at once, the last one after `withinMs`, and `OPERATION_ABORTED` as soon as `signal` aborts.
 */
export async function retryUnavailable<T>(work: () => Promise<T>, { withinMs, signal }: RetryOptions): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    try {
      return await work();
    } catch (e) {
      const isUnavailable = UNAVAILABLE.some((code) => hasCode(e, code));
      if (!isUnavailable || signal.aborted || performance.now() + retryMs > deadline) throw e;
    }
    await delay(retryMs, signal);
  }
}
