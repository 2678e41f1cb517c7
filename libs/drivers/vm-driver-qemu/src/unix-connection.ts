import { createConnection, type Socket } from 'node:net';
import { kernelError } from '@inquest/kernel';

/**
 * Connects to a unix socket that is known to be served. Rejects with the system's error, or with `OPERATION_ABORTED`
 * as soon as `signal` aborts; no connection is left then.
 */
export function connectUnix(path: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path, allowHalfOpen: false });
    const settle = (finish: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners('connect').removeAllListeners('error');
      // Errors after the connection are the reader's: they end its stream.
      socket.on('error', () => undefined);
      finish();
    };
    const onAbort = (): void =>
      settle(() => {
        socket.destroy();
        reject(kernelError('OPERATION_ABORTED', `connecting to ${path} was cancelled`, {}, signal.reason));
      });
    socket.once('connect', () => settle(() => resolve(socket)));
    socket.once('error', (e) => settle(() => reject(e)));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
