import type { Duplex } from 'node:stream';
import { FRAME_PORT } from '@inquest/frame-protocol';
import { delay, hasCode } from '@inquest/kernel';
import {
  HybridVsockLink,
  type FirstBytes,
  type GuestLink,
  type GuestListener,
  type GuestStreamHandler,
} from '@inquest/guest-link';

/** One try. A guest without a vsock driver yet does not answer; a kernel with one answers at once. */
const TRY_MS = 2_000;
/** Between two tries of a guest that is not up. */
const RETRY_MS = 50;

/**
 * The guest link of one machine for its whole life. A hybrid vsock refuses a guest that still boots like one that does
 * not listen; this one waits until the guest agent has been reached once. From then on a refusal is one.
 */
export class MicrovmLink implements GuestLink {
  private isGuestUp = false;

  constructor(private readonly vsock: HybridVsockLink) {}

  get closed(): Promise<void> {
    return this.vsock.closed;
  }

  async connect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex> {
    while (!this.isGuestUp) {
      const stream = await this.tryConnect(port, signal, first);
      if (stream !== null) {
        this.isGuestUp = true;
        return stream;
      }
      await this.lookForAgent(signal);
    }
    return this.vsock.connect(port, signal, first);
  }

  listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    return this.vsock.listen(port, handler);
  }

  close(): Promise<void> {
    return this.vsock.close();
  }

  /** Null when nobody answered, which before the guest is up is no refusal. */
  private async tryConnect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex | null> {
    try {
      return await this.vsock.connect(port, AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]), first);
    } catch (e) {
      const isLate = hasCode(e, 'OPERATION_ABORTED') && !signal.aborted;
      if (isLate || hasCode(e, 'LINK_PORT_REFUSED') || hasCode(e, 'LINK_UNREACHABLE')) return null;
      throw e;
    }
  }

  private async lookForAgent(signal: AbortSignal): Promise<void> {
    const stream = await this.tryConnect(FRAME_PORT, signal);
    stream?.destroy();
    this.isGuestUp = stream !== null;
    if (!this.isGuestUp) await delay(RETRY_MS, signal);
  }
}
