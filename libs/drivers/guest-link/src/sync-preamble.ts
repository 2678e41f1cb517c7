import { randomBytes } from 'node:crypto';
import { type Duplex } from 'node:stream';
import { kernelError } from '@inquest/kernel';
import { linkError } from './errors';

/** docs/guest-protocol.md, preamble: a nonce that is not echoed within this time is replaced by a new one. */
const RETRY_MS = 250;
/** A guest slower than the retry would never see its echo accepted; each late echo doubles the wait up to this. */
const MAX_RETRY_MS = 4000;

const NONCE_BYTES = 16;
const SYNC_LINE = /SYNC ([0-9a-f]{32})\n/g;
/** Longest part of a `SYNC` line that a chunk can end with. */
const MAX_PARTIAL_LINE = 'SYNC '.length + 2 * NONCE_BYTES;

/**
 * Host's side of the preamble: writes `SYNC <nonce>` until the guest echoes the latest nonce, and discards everything
 * before. When it resolves, the next byte of `port` is the first of the new session. Holds at most one partial line.
 * Rejects with `LINK_CLOSED` when the port ends, `OPERATION_ABORTED` when `signal` aborts; the port is then destroyed,
 * because bytes of the handshake may be left in it.
 */
export function synchronize(port: Duplex, signal: AbortSignal): Promise<void> {
  let nonce = '';
  let retryMs = RETRY_MS;
  let timer: NodeJS.Timeout | undefined;
  const ask = (): void => {
    timer = setTimeout(ask, retryMs);
    // A guest that has not opened the port takes no bytes; asking again would only fill the socket.
    if (port.writableLength > 0) return;
    nonce = randomBytes(NONCE_BYTES).toString('hex');
    port.write(`\nSYNC ${nonce}\n`);
  };
  const waiting = awaitSyncLine(port, signal, (echoed) => {
    if (echoed === nonce) return true;
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
    return false;
  });
  ask();
  return waiting.then(
    () => clearTimeout(timer),
    (e: unknown) => {
      clearTimeout(timer);
      throw e;
    },
  );
}

/** Guest's side: discards everything up to a whole `SYNC` line and echoes it. Otherwise as `synchronize`. */
export async function acceptSync(port: Duplex, signal: AbortSignal): Promise<void> {
  await awaitSyncLine(port, signal, (nonce) => {
    port.write(`SYNC ${nonce}\n`);
    return true;
  });
}

/** Resolves at the first line whose nonce `accepts` takes; what follows the line stays in the port, paused. */
function awaitSyncLine(port: Duplex, signal: AbortSignal, accepts: (nonce: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let partial: Buffer = Buffer.alloc(0);
    const detach = (): void => {
      port.pause().off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error): void => {
      detach();
      port.destroy();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      const bytes = Buffer.concat([partial, chunk]);
      for (const match of bytes.toString('latin1').matchAll(SYNC_LINE)) {
        if (!accepts(match[1] as string)) continue;
        detach();
        const rest = bytes.subarray(match.index + match[0].length);
        if (rest.length > 0) port.unshift(rest);
        return resolve();
      }
      partial = bytes.subarray(Math.max(0, bytes.length - MAX_PARTIAL_LINE));
    };
    const onEnd = (): void => fail(linkError('LINK_CLOSED', 'the port ended before the guest answered'));
    const onError = (e: Error): void =>
      fail(linkError('LINK_CLOSED', 'the port failed before the guest answered', {}, e));
    const onAbort = (): void =>
      fail(kernelError('OPERATION_ABORTED', 'cancelled before the guest answered', {}, signal.reason));

    if (signal.aborted) return onAbort();
    if (port.destroyed) return onEnd();
    port.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    port.resume();
  });
}
