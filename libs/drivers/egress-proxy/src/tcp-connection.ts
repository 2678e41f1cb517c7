import { createConnection, type Socket } from 'node:net';
import { kernelError } from '@inquest/kernel';
import { egressError } from '@inquest/egress-policy';

/**
 * A half-closable TCP connection. Rejects with `EGRESS_HOST_UNREACHABLE`, and with `OPERATION_ABORTED` as soon as `signal`
 * aborts; then nothing is left open. The signal has no effect afterwards; errors are no uncaught exceptions.
 */
export function connectTcp(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(aborted(host, port, signal));
    const socket = createConnection({ host, port, allowHalfOpen: true, noDelay: true });
    const onAbort = (): void => void socket.destroy(aborted(host, port, signal));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    socket.on('error', (e: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', onAbort);
      const why = e.code === undefined ? '' : ` (${e.code})`;
      const unreachable = egressError('EGRESS_HOST_UNREACHABLE', `${host} port ${port} does not answer${why}`, {}, e);
      reject(signal.aborted ? e : unreachable);
    });
  });
}

const aborted = (host: string, port: number, signal: AbortSignal): Error =>
  kernelError('OPERATION_ABORTED', `connecting to ${host} port ${port} was cancelled`, {}, signal.reason);
