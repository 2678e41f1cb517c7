import type { Duplex } from 'node:stream';
import { delay, type DomainError } from '@inquest/kernel';
import type { ConnectionJournal } from './connection-journal';

/** How long a guest may take to read why its connection was turned away. */
const LINGER_MS = 2_000;

/** How a guest is told of an error: the bytes that end its connection, or nothing but the end. */
export type Answer = (error: DomainError) => string | Uint8Array;

/** One connection that a guest opened, on its way out. */
export class GuestConnection {
  private readonly over = new AbortController();
  private readonly closing = new AbortController();

  constructor(
    readonly stream: Duplex,
    readonly journal: ConnectionJournal,
    private answer: Answer,
  ) {
    stream.once('close', () => this.over.abort(new Error('the guest closed the connection')));
  }

  /** Aborts when the guest is gone or the way out is closed. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  /**
   * Aborts when the way out is closed. For a tunnel: a guest that is gone may have left bytes which are still on their
   * way to the other side.
   */
  get closingSignal(): AbortSignal {
    return this.closing.signal;
  }

  /** From now on errors are told in this way. */
  answerWith(answer: Answer): void {
    this.answer = answer;
  }

  /** Ends the connection because its way out is closed. */
  abort(): void {
    const reason = new Error('the way out was closed');
    this.closing.abort(reason);
    this.over.abort(reason);
  }

  /** Tells the guest why its connection ends. Resolves when it has read that, or had its time. Never rejects. */
  turnAway(error: DomainError): Promise<void> {
    return this.endWith(this.answer(error));
  }

  /** Ends the connection without a word. Resolves when the guest has done so too, or had its time. Never rejects. */
  hangUp(): Promise<void> {
    return this.endWith('');
  }

  private async endWith(bytes: string | Uint8Array): Promise<void> {
    const { stream, signal } = this;
    if (signal.aborted || stream.destroyed) return;
    stream.end(bytes);
    // Whatever the guest still sends is of no interest; unread, it would keep the stream from closing.
    stream.resume();
    await delay(LINGER_MS, signal).catch(() => undefined);
  }
}
