import { kernelError } from '@inquest/kernel';
import { linkError } from '../errors';

/** How one call to the guest agent ends early. */
export interface CallOptions {
  /** Aborting it drops the stream, which ends the op in the guest; the call rejects with `OPERATION_ABORTED`. */
  readonly signal: AbortSignal;
  /** Ms for the whole call, or for the first answer of a call that streams; late is `AGENT_ANSWER_LATE`. */
  readonly deadlineMs?: number;
}

/** For a small answer. One takes 1 or 2 ms even under emulation, but the guest may be swapping or starved of processor time. */
export const ANSWER_DEADLINE_MS = 30_000;

/** Ends a call when its caller cancels or its time is up, and says which of them it was. */
export class CallDeadline {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private reason: Error | null = null;
  private onEnded: ((reason: Error) => void) | null = null;
  private readonly onAbort = (): void =>
    this.end(kernelError('OPERATION_ABORTED', `${this.op} was cancelled`, {}, this.options.signal.reason));

  constructor(
    private readonly op: string,
    private readonly options: CallOptions,
  ) {
    if (options.signal.aborted) this.onAbort();
    else options.signal.addEventListener('abort', this.onAbort, { once: true });
    this.restart();
  }

  /** Aborts when the call must end. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Starts the time anew, with `ms` or the time that the call began with. */
  restart(ms = this.options.deadlineMs ?? ANSWER_DEADLINE_MS): void {
    clearTimeout(this.timer);
    if (this.reason !== null) return;
    const late = (): void =>
      this.end(linkError('AGENT_ANSWER_LATE', `the guest agent did not answer ${this.op} in ${ms} ms`, { ms }));
    this.timer = setTimeout(late, ms);
  }

  /** Leaves only the caller's signal, until `restart`. */
  disarm(): void {
    clearTimeout(this.timer);
  }

  /** Called once with the reason, at once when the call has ended already. */
  whenEnded(act: (reason: Error) => void): void {
    if (this.reason !== null) act(this.reason);
    else this.onEnded = act;
  }

  /** The reason why the call ended early if it did, else `e`: the broken stream is only its consequence. */
  explain(e: unknown): unknown {
    return this.reason ?? e;
  }

  /** The call is over. Idempotent. */
  clear(): void {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onAbort);
  }

  private end(reason: Error): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.clear();
    this.controller.abort(reason);
    this.onEnded?.(reason);
  }
}
