/** Failures that end by themselves: what a person must mend is not tried again before they say so. */
const PASSING = [
  'FORGE_UNAVAILABLE',
  'FORGE_PUSH_UNVERIFIED',
  'FORGE_CHANGE_UNVERIFIED',
  'OPERATION_ABORTED',
  'DEADLINE_EXCEEDED',
];
/** A forge that is away for a night is met again: with the default first delay the last try is after half a day. */
const MAX_ATTEMPTS = 20;
const MAX_DELAY_MS = 3_600_000;

/**
 * When a publication that failed with `code` at its attempt number `attempts` (1 is the first) is tried again by itself:
 * after `firstDelayMs`, then each time twice as long, at most an hour. Null: never.
 */
export function nextAttemptAt(code: string, attempts: number, firstDelayMs: number, nowMs: number): Date | null {
  if (!PASSING.includes(code) || attempts >= MAX_ATTEMPTS) return null;
  return new Date(nowMs + Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (attempts - 1)));
}
