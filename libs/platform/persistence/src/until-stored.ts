import { delay } from '@inquest/kernel';

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 5_000;

export interface UntilStoredOptions {
  /** Ends the trying; the write is tried once even when it has aborted before. */
  readonly signal: AbortSignal;
  /** Told each failure that is followed by another try. */
  readonly onRetry: (failure: unknown) => void;
}

/**
 * Repeats a write until the database takes it: for facts that must not be lost because Postgres is away for a while.
 * `write` must be right to repeat after a failure of which nobody knows whether it was committed. Rejects with the last
 * failure once `signal` has aborted.
 */
export async function untilStored<T>(write: () => Promise<T>, { signal, onRetry }: UntilStoredOptions): Promise<T> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    try {
      return await write();
    } catch (e) {
      if (signal.aborted) throw e;
      onRetry(e);
    }
    // The abort ends the pause; the next failure then ends the trying.
    await delay(retryMs, signal).catch(() => undefined);
  }
}
