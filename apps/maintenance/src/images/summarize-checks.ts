import type { SmokeCheckView } from '@inquest/contracts-image';

/** The checks in one line. What was not checked is never counted as passed. */
export function summarizeChecks(checks: readonly Pick<SmokeCheckView, 'outcome'>[]): string {
  if (checks.length === 0) return 'none run yet';
  const of = (wanted: string): number => checks.filter(({ outcome }) => outcome === wanted).length;
  const parts = [
    [of('failed'), 'failed'],
    [of('passed'), 'passed'],
    [of('unchecked'), 'unchecked'],
  ] as const;
  return parts
    .filter(([n]) => n > 0)
    .map(([n, outcome]) => `${n} ${outcome}`)
    .join(', ');
}
