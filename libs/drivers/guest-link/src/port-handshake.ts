import { type Duplex } from 'node:stream';
import { linkError } from './errors';
import { readLine } from './stream-line';

/** Longest line of the handshake, newline excluded. A reason behind `ERR` has to fit too. */
const MAX_LINE_BYTES = 64;

/** VMADDR_PORT_ANY (linux/vm_sockets.h) is 2^32-1 and no port. */
const MAX_PORT = 0xffff_fffe;

const REQUEST = /^CONNECT ([1-9][0-9]{0,9})$/;
const ACCEPTED = /^OK [0-9]{1,10}$/;
const REFUSED = /^ERR ([\x20-\x7e]{0,60})$/;

/** Throws `LINK_PORT_INVALID` unless `port` can be asked for. */
export function assertPort(port: number): void {
  if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) {
    throw linkError('LINK_PORT_INVALID', `${port} is no port`, { port });
  }
}

/** Opener's side: what a fresh stream begins with. */
export const portRequest = (port: number): Buffer => Buffer.from(`CONNECT ${port}\n`);

/**
 * Opener's side: waits for the answer to `portRequest`. What follows the answer stays in the stream. Rejects with
 * `LINK_PORT_REFUSED`, or as `readLine` does; then the stream is destroyed.
 */
export async function awaitPort(stream: Duplex, port: number, signal: AbortSignal): Promise<void> {
  try {
    const answer = await readLine(stream, MAX_LINE_BYTES, signal);
    if (ACCEPTED.test(answer)) return;
    const reason = REFUSED.exec(answer)?.[1];
    if (reason === undefined)
      throw linkError('LINK_HANDSHAKE_INVALID', `port ${port}: the answer is neither OK nor ERR`, { port });
    throw linkError('LINK_PORT_REFUSED', `the guest refused port ${port}: ${reason}`, { port });
  } catch (e) {
    stream.destroy();
    throw e;
  }
}

/** Acceptor's side: the port that a fresh stream asks for. Rejects as `readLine` does; then the stream is destroyed. */
export async function readPortRequest(stream: Duplex, signal: AbortSignal): Promise<number> {
  try {
    const port = Number(REQUEST.exec(await readLine(stream, MAX_LINE_BYTES, signal))?.[1]);
    if (!(port <= MAX_PORT))
      throw linkError('LINK_HANDSHAKE_INVALID', 'a stream does not start with a request for a port');
    return port;
  } catch (e) {
    stream.destroy();
    throw e;
  }
}

/** Accepts the port that was asked for. Payload may follow at once. */
export const acceptPort = (stream: Duplex, port: number): void => void stream.write(`OK ${port}\n`);

/** Refuses the port that was asked for and ends the stream. What the opener still sends is discarded. */
export function refusePort(stream: Duplex, reason: string): void {
  stream.end(`ERR ${reason}\n`);
  stream.resume();
}
