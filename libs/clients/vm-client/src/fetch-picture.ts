import { SCREENSHOT_MAX_BYTES, vmError } from '@inquest/contracts-vm';
import type { StreamTicket } from '@inquest/contracts-base';
import { deadlineSignal } from '@inquest/kernel';

/** The largest picture from a busy node. */
const FETCH_TIMEOUT_MS = 60_000;

/**
 * The PNG behind the ticket of a screenshot. Throws `MACHINE_LOST` when its node does not give it, gives more than a
 * picture has, or breaks off, and what aborts `signal`.
 */
export async function fetchPicture({ url, method }: StreamTicket, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { method, signal: deadlineSignal(FETCH_TIMEOUT_MS, signal) });
    if (response.status !== 200) throw new Error(`it was refused with status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      sizeBytes += chunk.length;
      if (sizeBytes > SCREENSHOT_MAX_BYTES) throw new Error(`it has more than ${SCREENSHOT_MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (e) {
    signal?.throwIfAborted();
    throw vmError('MACHINE_LOST', `the picture could not be fetched: ${(e as Error).message}`, {}, e);
  }
}
