import { gitForgeError } from '@inquest/git-forge';
import { hasCode, systemClock, type Clock } from '@inquest/kernel';

export interface CircuitBreakerOptions {
  /** Consecutive failures after which nothing is tried for a while. */
  readonly failureLimit: number;
  readonly coolDownMs: number;
}

const DEFAULTS: CircuitBreakerOptions = { failureLimit: 3, coolDownMs: 30_000 };

/**
 * Keeps callers from waiting for a forge that was down just now. After `failureLimit` times `FORGE_UNAVAILABLE` in a row
 * it rejects at once; after `coolDownMs` one caller tries, and its success lets everybody through again.
 */
export class CircuitBreaker {
  private failures = 0;
  private closedUntilMs = 0;

  constructor(
    private readonly options: CircuitBreakerOptions = DEFAULTS,
    private readonly clock: Clock = systemClock,
  ) {}

  /** `work`, or `FORGE_UNAVAILABLE` without having tried. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const waitMs = this.closedUntilMs - this.clock.monotonicMs();
    if (this.failures >= this.options.failureLimit) {
      if (waitMs > 0) throw tooEarly(this.failures, waitMs);
      // This caller is the one that tries; the others wait for its outcome.
      this.closedUntilMs = this.clock.monotonicMs() + this.options.coolDownMs;
    }
    return this.observe(work);
  }

  /** `work` in any case; its outcome counts. */
  async observe<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.failures = 0;
      return result;
    } catch (e) {
      if (hasCode(e, 'FORGE_UNAVAILABLE')) {
        this.failures++;
        this.closedUntilMs = this.clock.monotonicMs() + this.options.coolDownMs;
      } else if (!hasCode(e, 'OPERATION_ABORTED')) this.failures = 0;
      throw e;
    }
  }
}

const tooEarly = (failures: number, waitMs: number) =>
  gitForgeError(
    'FORGE_UNAVAILABLE',
    `the forge failed ${failures} times in a row and is left alone for another ${Math.ceil(waitMs / 1000)} s`,
    { failures },
  );
