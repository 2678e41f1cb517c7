import type { DomainError } from '@inquest/kernel';
import { modelError } from './errors';

/** Ends a turn whose endpoint falls silent within a reply, or that takes too long altogether. */
export class Patience {
  private readonly controller = new AbortController();
  private readonly whole: NodeJS.Timeout;
  private idle: NodeJS.Timeout | undefined;
  private reason: DomainError | null = null;

  constructor(
    private readonly idleTimeoutMs: number,
    turnTimeoutMs: number,
  ) {
    this.whole = setTimeout(() => this.lose(`the turn took longer than ${turnTimeoutMs} ms`), turnTimeoutMs);
  }

  /** Aborts when patience is lost. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why it was lost; null as long as it is not. */
  get lost(): DomainError | null {
    return this.reason;
  }

  /** The endpoint answered; the silence after it is measured from now. */
  heard(): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.lose(`the endpoint was silent for ${this.idleTimeoutMs} ms`), this.idleTimeoutMs);
  }

  /** Stops the clocks. Must be called when the turn is over. */
  end(): void {
    clearTimeout(this.idle);
    clearTimeout(this.whole);
  }

  private lose(why: string): void {
    this.reason = modelError('MODEL_UNREACHABLE', `the model gave no whole reply: ${why}`);
    this.controller.abort(this.reason);
  }
}
