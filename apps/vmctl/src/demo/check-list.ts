import type { CliContext } from '../context';
import { cliError } from '../errors';

/** What became of one check. SKIP: it could not be made here, and what it would show stays unproven. */
export const CHECK_STATUSES = ['PASS', 'FAIL', 'SKIP'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** One check that was made, or could not be. */
export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was seen; of a skipped one, why, and what is therefore unproven. */
  readonly detail: string;
  readonly elapsedMs: number;
}

/** Thrown by a check that cannot be made here; the message says why, and what is therefore unproven. */
export class Unproven extends Error {}

/** Makes checks one after the other and shows a line for each as it is known. */
export class CheckList {
  private readonly made: Check[] = [];

  constructor(private readonly context: CliContext) {}

  /** True while nothing failed. */
  get isPassed(): boolean {
    return this.made.every(({ status }) => status !== 'FAIL');
  }

  /**
   * PASS with what `make` returns, SKIP when it throws `Unproven`, FAIL with any other error: a check that fails does not
   * end the list. Gives whether it passed. Throws only when the caller gave up.
   */
  async check(name: string, make: () => Promise<string>): Promise<boolean> {
    const started = performance.now();
    const outcome = await make().then(
      (detail) => ({ status: 'PASS', detail }) as const,
      (e: unknown) => {
        this.context.signal.throwIfAborted();
        const detail = e instanceof Error ? e.message : String(e);
        return { status: e instanceof Unproven ? 'SKIP' : 'FAIL', detail } as const;
      },
    );
    const { status, detail } = outcome;
    this.made.push({ name, status, detail, elapsedMs: Math.round(performance.now() - started) });
    if (!this.context.printer.json)
      this.context.printer.data(`${status}  ${name}${detail === '' ? '' : `: ${detail}`}`);
    return status === 'PASS';
  }

  /** Prints the sum, or the one JSON document `{checks, passed, failed, skipped}`. Throws `CLI_CHECK_FAILED` when one failed. */
  finish(): void {
    const count = (wanted: CheckStatus): number => this.made.filter(({ status }) => status === wanted).length;
    const sum = { passed: count('PASS'), failed: count('FAIL'), skipped: count('SKIP') };
    this.context.printer.result({ checks: this.made, ...sum }, () => {
      const unproven = sum.skipped === 0 ? '' : '; what was skipped is unproven';
      return `${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped${unproven}`;
    });
    if (this.isPassed) return;
    const failed = this.made.filter(({ status }) => status === 'FAIL').map(({ name }) => name);
    throw cliError('CLI_CHECK_FAILED', `failed: ${failed.join('; ')}`);
  }
}

/** Throws an error that says so when something that a check relies on does not hold. */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
