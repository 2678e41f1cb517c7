import { createConnection, type Socket } from 'node:net';
import { delay, kernelError } from '@inquest/kernel';
import type { BoundedLog } from '@inquest/vm-driver';

/** The most that is taken at once; the socket itself holds some 200 KiB more. */
const CHUNK_BYTES = 64 * 1024;
/**
 * Between two reads. A serial port is written byte by byte, and waking up for each byte of a boot costs this process 300 ms
 * of a processor that the guest needs.
 */
const PAUSE_MS = 10;

/** A serial console on its way into a log. */
export interface ConsoleCopy {
  /** Settles when the console has ended and all of it is in the log. Never rejects. */
  readonly ended: Promise<void>;
  /** Gives up what has not come yet. */
  stop(): void;
}

/**
 * Copies what a served unix socket gives into the log, in large pieces. A console that the disk cannot follow is read more
 * slowly, which slows the guest; nothing is lost. Once `closing` aborts there are no pauses any more. Rejects when
 * it cannot connect, and with `OPERATION_ABORTED`; nothing is left then.
 */
export async function copyConsole(
  path: string,
  log: BoundedLog,
  { signal, closing }: { readonly signal: AbortSignal; readonly closing: AbortSignal },
): Promise<ConsoleCopy> {
  let reading = Promise.resolve();
  const take = (socket: Socket, chunk: Buffer): void => {
    reading = log.append(chunk).then(async () => {
      if (!closing.aborted) await delay(PAUSE_MS, closing).catch(() => undefined);
      socket.resume();
    });
  };
  const socket: Socket = createConnection({
    path,
    onread: {
      buffer: Buffer.alloc(CHUNK_BYTES),
      callback: (length, buffer) => {
        // The buffer is used again for the next read.
        take(socket, Buffer.from(buffer.subarray(0, length)));
        return false;
      },
    },
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() => reading);
  await connected(socket, path, signal);
  return { ended, stop: () => void socket.destroy() };
}

function connected(socket: Socket, path: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(kernelError('OPERATION_ABORTED', `connecting to ${path} was cancelled`, {}, signal.reason));
    };
    // Later errors are the end of the console, which 'close' tells.
    socket.on('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
