import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default 15 000: this is a bound for a machine that is five times slower than usual, not an expectation. */
  readonly timeoutMs?: number;
  /** Pause between two looks. Default 20. */
  readonly intervalMs?: number;
}

/**
 * Calls `look` until it neither throws nor gives false, and gives its result. For state that nobody announces; where
 * there is an event, await that. At the deadline it throws the last failure, so that the report says what was missing.
 */
export async function eventually<T>(look: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { timeoutMs = 15_000, intervalMs = 20 } = options;
  const end = performance.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(look);
    if ('value' in outcome && outcome.value !== false) return outcome.value;
    if (performance.now() >= end) {
      throw new Error(`still not true after ${timeoutMs} ms`, {
        cause: 'error' in outcome ? outcome.error : undefined,
      });
    }
    await sleep(intervalMs);
  }
}

async function attempt<T>(look: () => T | Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await look() };
  } catch (error) {
    return { error };
  }
}
