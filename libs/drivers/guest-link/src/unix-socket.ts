import { connect, type Socket } from 'node:net';
import { kernelError } from '@inquest/kernel';
import { linkError } from './errors';

/**
 * Connects to a Unix socket. The socket is half-closable. Rejects with `LINK_UNREACHABLE`, or `OPERATION_ABORTED` when
 * `signal` aborts; then nothing is left open.
 */
export function connectUnixSocket(socketPath: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelled(socketPath, signal));
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    const onAbort = (): void => {
      socket.destroy();
      reject(cancelled(socketPath, signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    // Stays for the life of the socket: an error that nobody awaits must not end the process.
    socket.on('error', (e) => {
      signal.removeEventListener('abort', onAbort);
      reject(linkError('LINK_UNREACHABLE', `cannot connect to ${socketPath}`, { socketPath }, e));
    });
  });
}

const cancelled = (socketPath: string, signal: AbortSignal): Error =>
  kernelError('OPERATION_ABORTED', `cancelled while connecting to ${socketPath}`, {}, signal.reason);
