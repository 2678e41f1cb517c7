import { delay } from '@inquest/kernel';

/** How often something is tried, and how long is waited in between: each time twice as long, up to a bound. */
export interface Patience {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** For requests that fail for a while: 5 times within about 8 s. */
export const REQUEST_PATIENCE: Patience = { attempts: 5, firstDelayMs: 500, maxDelayMs: 10_000 };

/** For changes that are accepted before they can be read: 10 times within about 12 s. */
export const READ_BACK_PATIENCE: Patience = { attempts: 10, firstDelayMs: 100, maxDelayMs: 2_000 };

/** The longest `Retry-After` that is waited for; above it the caller is told instead. */
export const MAX_RETRY_AFTER_MS = 30_000;

/** Ms to wait after attempt number `attempt` (1 is the first), with up to a quarter less so that waiters spread out. */
export function delayMsAfter(attempt: number, { firstDelayMs, maxDelayMs }: Patience, random = Math.random): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)) * (1 - random() / 4);
}

/** `Retry-After` of RFC 9110, section 10.2.3, in ms from now; null when there is none that can be read. */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/**
 * Reads until what is read is as expected, or patience ends; gives the last that was read. Rejects with what `read`
 * rejects with, and with `OPERATION_ABORTED`.
 */
export async function readBack<T>(
  read: () => Promise<T>,
  isExpected: (found: T) => boolean,
  patience: Patience,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const found = await read();
    if (isExpected(found) || attempt >= patience.attempts) return found;
    await delay(delayMsAfter(attempt, patience), signal);
  }
}
