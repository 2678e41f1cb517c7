import { kernelError } from '@inquest/kernel';

/**
 * hashicorp/yamux resets what goes beyond its AcceptBacklog of 256, so no more than that may be opened and not yet
 * acknowledged.
 */
const MAX_UNACKNOWLEDGED = 256;
/** Streams that this side may have open at once: at 256 KiB each, what a hostile peer can make the host hold. */
const MAX_OPEN = 1024;

interface Waiter {
  readonly admit: () => void;
  readonly reject: (error: Error) => void;
}

/** Lets streams be opened one after the other, in the order of asking, within both limits. */
export class OpenGate {
  private readonly waiters: Waiter[] = [];
  private readonly unacknowledged = new Set<number>();
  /** Admitted ones included that have no number yet. */
  private openCount = 0;
  private admittedCount = 0;
  private shutReason: Error | null = null;

  /** Resolves when a stream may be opened; `started` or `leave` must follow. Rejects when the gate is shut or `signal` aborts. */
  enter(signal: AbortSignal): Promise<void> {
    if (this.shutReason !== null) return Promise.reject(this.shutReason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        reject(kernelError('OPERATION_ABORTED', 'cancelled while waiting to open a stream', {}, signal.reason));
      };
      const waiter: Waiter = {
        admit: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
        reject: (e) => {
          signal.removeEventListener('abort', onAbort);
          reject(e);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiters.push(waiter);
      this.admitWaiters();
    });
  }

  /** The stream that was admitted has got this number and was opened. */
  started(id: number): void {
    this.admittedCount--;
    this.unacknowledged.add(id);
  }

  /** The peer said something on the stream. */
  acknowledged(id: number): void {
    if (this.unacknowledged.delete(id)) this.admitWaiters();
  }

  /** The stream is gone. */
  leave(id: number): void {
    this.unacknowledged.delete(id);
    this.openCount--;
    this.admitWaiters();
  }

  /** Rejects everybody who waits or comes later. */
  shut(reason: Error): void {
    this.shutReason ??= reason;
    for (const waiter of this.waiters.splice(0)) waiter.reject(this.shutReason);
  }

  private admitWaiters(): void {
    while (
      this.waiters.length > 0 &&
      this.openCount < MAX_OPEN &&
      this.unacknowledged.size + this.admittedCount < MAX_UNACKNOWLEDGED
    ) {
      this.openCount++;
      this.admittedCount++;
      this.waiters.shift()?.admit();
    }
  }
}
