import { Transform, type Duplex, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** How a spliced pair of streams ended, and what went through it. */
export interface SpliceEnd {
  /** For people. */
  readonly how: string;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/**
 * Without a byte once one direction has ended, in ms. The guest's end of a stream cannot tell a client that is gone from
 * one that has said all, so what then comes to nothing must not hold a place for long.
 */
const HALF_CLOSED_IDLE_MS = 60_000;

/** Bounds of a splice, in ms; `signal` ends it at once. */
export interface SpliceOptions {
  readonly idleMs: number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
}

/**
 * Copies bytes between two half-closable streams, both ways, with back-pressure, until both directions have ended, one
 * fails, nothing moved for `idleMs` (one minute at most once one direction has ended), or `totalMs` have passed. Owns both streams; they are closed when it resolves. Never
 * rejects.
 */
export async function splice(guest: Duplex, remote: Duplex, options: SpliceOptions): Promise<SpliceEnd> {
  const limits = new SpliceLimits(options);
  const up = new ByteMeter(() => limits.touch());
  const down = new ByteMeter(() => limits.touch());
  const { signal } = limits;
  guest.once('end', () => limits.halfClosed());
  remote.once('end', () => limits.halfClosed());
  let how = 'both sides were done';
  try {
    await Promise.all([pipeline(guest, up, remote, { signal }), pipeline(remote, down, guest, { signal })]);
  } catch (e) {
    how = limits.reached ?? `one side broke off (${(e as NodeJS.ErrnoException).code ?? 'no reason given'})`;
  } finally {
    limits.release();
    guest.destroy();
    remote.destroy();
  }
  return { how, bytesUp: up.bytes, bytesDown: down.bytes };
}

/** Passes bytes on and counts them. */
class ByteMeter extends Transform {
  bytes = 0;

  constructor(private readonly onBytes: () => void) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.onBytes();
    done(null, chunk);
  }
}

/** Aborts `signal` at the first limit that is reached, and says which. */
class SpliceLimits {
  private readonly controller = new AbortController();
  private idle: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;
  private readonly onAbort = (): void => this.reach('the way out was closed');
  private why: string | null = null;
  private isOver = false;

  constructor(private readonly options: SpliceOptions) {
    const { idleMs, totalMs } = options;
    this.idle = this.startIdle(idleMs);
    this.total = setTimeout(() => this.reach(`it was open for ${totalMs} ms`), totalMs);
    options.signal.addEventListener('abort', this.onAbort, { once: true });
    if (options.signal.aborted) this.onAbort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The limit that ended the splice, for people; null while none has. */
  get reached(): string | null {
    return this.why;
  }

  touch(): void {
    this.idle.refresh();
  }

  /** From now on `HALF_CLOSED_IDLE_MS` is the longest silence. */
  halfClosed(): void {
    if (this.isOver) return;
    clearTimeout(this.idle);
    this.idle = this.startIdle(Math.min(this.options.idleMs, HALF_CLOSED_IDLE_MS));
  }

  release(): void {
    this.isOver = true;
    clearTimeout(this.idle);
    clearTimeout(this.total);
    this.options.signal.removeEventListener('abort', this.onAbort);
  }

  private startIdle(idleMs: number): NodeJS.Timeout {
    return setTimeout(() => this.reach(`nothing moved for ${idleMs} ms`), idleMs);
  }

  private reach(why: string): void {
    this.why ??= why;
    this.controller.abort();
  }
}
