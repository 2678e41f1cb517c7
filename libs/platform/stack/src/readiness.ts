import type { OwnedProcess } from '@inquest/process';
import { untilFile } from './durable-file';

/**
 * Waits for the file by which a child says that it is ready; throws what `onFailure` makes when the child dies first or is too late, and
 * `OPERATION_ABORTED` when `signal` aborts. The child is left to the caller.
 */
export async function untilReady<T>(options: {
  readonly child: OwnedProcess;
  readonly file: string;
  readonly accept: (text: string | null) => T | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onFailure: (why: string, cause: unknown) => Error;
}): Promise<T> {
  const { child, signal } = options;
  const stopWaiting = new AbortController();
  let why = `it was not ready within ${options.timeoutMs} ms`;
  void child.exited.then((exit) => {
    why = `it ended with ${exit.code ?? exit.signal}`;
    stopWaiting.abort();
  });
  const waiting = signal ? AbortSignal.any([stopWaiting.signal, signal]) : stopWaiting.signal;
  try {
    return await untilFile(options.file, options.accept, { timeoutMs: options.timeoutMs, signal: waiting });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw options.onFailure(why, e);
  }
}
