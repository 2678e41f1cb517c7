import { hasCode, type DomainError } from '@inquest/kernel';

/** A deadline in ms, whatever else ends the work, and what it means that time is up. */
export interface Deadline {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly late: DomainError;
}

/** What `work` gives; rejects with `late` when it was cancelled because time was up. */
export async function within<T>({ ms, signal, late }: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (e) {
    throw timeout.aborted && !signal.aborted && hasCode(e, 'OPERATION_ABORTED') ? late : e;
  }
}
