/** Pauses before the first, second, ... retry, in ms; the last repeats. */
const PAUSES_MS: readonly number[] = [500, 2000, 8000];
/** A provider that wants a longer pause than this means that the quota is used up: waiting would look like a hang. */
const MAX_ASKED_PAUSE_MS = 60_000;

/** How long to wait before asking again after the failure `e`, in ms; null when asking again cannot help. */
export function retryPauseMs(e: unknown, retriesSoFar: number): number | null {
  const { status, headers } = (typeof e === 'object' && e !== null ? e : {}) as { status?: unknown; headers?: unknown };
  if (typeof status === 'number' && status < 500 && status !== 408 && status !== 409 && status !== 429) return null;
  const asked = askedPauseMs(headers);
  if (asked !== null) return asked <= MAX_ASKED_PAUSE_MS ? asked : null;
  return PAUSES_MS[Math.min(retriesSoFar, PAUSES_MS.length - 1)] ?? null;
}

/** `Retry-After` in seconds, the form that model providers use. */
function askedPauseMs(headers: unknown): number | null {
  if (typeof headers !== 'object' || headers === null || !('get' in headers) || typeof headers.get !== 'function')
    return null;
  const value: unknown = (headers as Headers).get('retry-after');
  return typeof value === 'string' && /^[0-9]{1,6}$/.test(value) ? Number(value) * 1000 : null;
}
