import { kernelError } from './errors';

/** A signal that aborts after `ms`, or as soon as `parent` does. The timer keeps no process alive. */
export function deadlineSignal(ms: number, parent?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return parent ? AbortSignal.any([parent, timeout]) : timeout;
}

/**
 * `work`, or `DEADLINE_EXCEEDED` after `ms` saying what was waited for. The work itself goes on: pass it a signal when
 * it can be stopped. Its late failure is swallowed, so that a lost race is not an unhandled rejection.
 */
export async function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(kernelError('DEADLINE_EXCEEDED', `${what} took longer than ${ms} ms`, { ms })), ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `ms`; rejects with `OPERATION_ABORTED` as soon as `signal` aborts. For backoff, never for guessing. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(kernelError('OPERATION_ABORTED', 'stopped while waiting', {}, signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** `work`, or `OPERATION_ABORTED` as soon as `signal` aborts (with the signal's reason as cause). */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  work.catch(() => undefined);
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(kernelError('OPERATION_ABORTED', `${what} was cancelled`, {}, signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
