import type { QmpEvent } from './messages';

/** Called for each event, in order of arrival. */
export type QmpEventListener = (event: QmpEvent) => void;

/** Events that are kept for the first listener; far more than a monitor sends before anybody can listen. */
const MAX_WAITING = 1000;

/** Hands events to listeners in order of arrival, and keeps those that come before the first listener for it. */
export class EventQueue {
  private readonly listeners = new Set<QmpEventListener>();
  private readonly waiting: QmpEvent[] = [];
  private lostCount = 0;

  /** Events that came before any listener and did not fit. */
  get lostEvents(): number {
    return this.lostCount;
  }

  /** A listener that throws keeps neither the others nor later events from being delivered. */
  push(event: QmpEvent): void {
    if (this.listeners.size > 0) this.deliver(event);
    else if (this.waiting.length < MAX_WAITING) this.waiting.push(event);
    else this.lostCount += 1;
  }

  /** Returns the function that takes the listener away. */
  subscribe(listener: QmpEventListener): () => void {
    this.listeners.add(listener);
    for (const event of this.waiting.splice(0)) this.deliver(event);
    return () => void this.listeners.delete(listener);
  }

  private deliver(event: QmpEvent): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(event);
      } catch {
        // A listener's failure is its own: the recording of a machine's death must not depend on it.
      }
    }
  }
}
