import { Injectable } from '@nestjs/common';
import { deadlineSignal, systemClock, toDomainError, withDeadline } from '@inquest/kernel';

/** One dependency that a service cannot work without. */
export interface ReadinessCheck {
  readonly name: string;
  /** At most 2 s, so that a lost dependency shows within 5 s. */
  readonly timeoutMs: number;
  /** Rejects when the dependency cannot be used. */
  check(signal: AbortSignal): Promise<void>;
}

/** What a check found. */
export interface CheckResult {
  readonly name: string;
  readonly isReady: boolean;
  readonly durationMs: number;
  /** Why it is not ready; null when it is. */
  readonly message: string | null;
}

/** Probes come from several places at once; within this time they share one look. */
const SHARED_MS = 500;

/** All checks of a process. */
@Injectable()
export class Readiness {
  private readonly checks: ReadinessCheck[] = [];
  private latest: { readonly atMs: number; readonly results: Promise<readonly CheckResult[]> } | null = null;

  /** From now on the service is ready only while `check` passes. */
  register(check: ReadinessCheck): void {
    this.checks.push(check);
    this.latest = null;
  }

  /** Runs all checks side by side, each with its own timeout. Never rejects. */
  results(): Promise<readonly CheckResult[]> {
    const nowMs = systemClock.monotonicMs();
    if (this.latest === null || nowMs - this.latest.atMs > SHARED_MS) {
      this.latest = { atMs: nowMs, results: Promise.all(this.checks.map(runCheck)) };
    }
    return this.latest.results;
  }
}

async function runCheck(check: ReadinessCheck): Promise<CheckResult> {
  const startedMs = systemClock.monotonicMs();
  const { name, timeoutMs } = check;
  const failure = await withDeadline(check.check(deadlineSignal(timeoutMs)), timeoutMs, `the check of ${name}`).then(
    () => null,
    (e: unknown) => toDomainError(e).message,
  );
  const durationMs = Math.round(systemClock.monotonicMs() - startedMs);
  return { name, isReady: failure === null, durationMs, message: failure };
}
