import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** Carries the trace id between processes: the HTTP header of that name, and the header of NATS messages. */
export const TRACE_HEADER = 'X-Request-ID';

const TRACE_ID = /^[A-Za-z0-9._-]{1,64}$/;
const current = new AsyncLocalStorage<string>();

/** Runs `work`, and everything it starts, under a trace id. */
export function runWithTrace<T>(traceId: string, work: () => T): T {
  return current.run(traceId, work);
}

/** The trace id of the request that this code works for; null outside of any. */
export function currentTraceId(): string | null {
  return current.getStore() ?? null;
}

/** The trace id that a caller sent, or a fresh one when there is none that is safe to log and to echo. */
export function traceIdFrom(sent: unknown): string {
  return typeof sent === 'string' && TRACE_ID.test(sent) ? sent : randomBytes(8).toString('hex');
}
