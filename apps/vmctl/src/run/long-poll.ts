import { delay, isDomainError, type DtoClass } from '@inquest/kernel';
import type { CallOptions, GatewayClient } from '../api/gateway-client';

/** How long one question waits for something to change; well below what a proxy takes for a dead connection. */
export const WAIT_MS = 20_000;
/** How long the platform may be away, as while a service of it restarts, before that is the answer. */
const MAX_ABSENCE_MS = 30_000;
const RETRY_PAUSE_MS = 250;

interface Poller {
  readonly gateway: GatewayClient;
  readonly signal: AbortSignal;
}

/**
 * Asks a question again and again, each time waiting for a change, until `isDone`. A service that restarts meanwhile is
 * waited for. Throws what the platform answers otherwise.
 */
export async function longPoll<T extends object>(
  { gateway, signal }: Poller,
  View: DtoClass<T>,
  path: string,
  queryOf: () => NonNullable<CallOptions['query']>,
  isDone: (view: T) => boolean,
): Promise<T> {
  let absentSince: number | null = null;
  for (;;) {
    try {
      const view = await gateway.call(View, 'GET', path, { query: queryOf() });
      if (isDone(view)) return view;
      absentSince = null;
    } catch (e) {
      absentSince ??= performance.now();
      if (signal.aborted || !isAbsence(e) || performance.now() - absentSince > MAX_ABSENCE_MS) throw e;
      await delay(RETRY_PAUSE_MS, signal);
    }
  }
}

/** The gateway, or a service behind it, is away for the moment: unlike any other answer, worth another try. */
export const isAbsence = (e: unknown): boolean => isDomainError(e) && (e.status === 503 || e.status === 504);
