import { watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { kernelError } from '@inquest/kernel';

/** Resolves once there is a socket at `file`, whose directory exists. Rejects with `OPERATION_ABORTED` when `signal` aborts. */
export function socketAppears(file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      watcher.close();
      signal.removeEventListener('abort', onAbort);
      finish();
    };
    const look = async (): Promise<void> => {
      const found = await lstat(file).catch(() => null);
      if (found?.isSocket()) settle(resolve);
    };
    const onAbort = (): void =>
      settle(() => reject(kernelError('OPERATION_ABORTED', `stopped waiting for ${file}`, {}, signal.reason)));
    const watcher = watch(path.dirname(file), () => void look());
    watcher.once('error', (e) => settle(() => reject(e)));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    // It may have come before the watch.
    void look();
  });
}
