import { nextAttemptAt } from './retry-schedule';

describe('nextAttemptAt', () => {
  const delayMs = (code: string, attempts: number): number | null =>
    nextAttemptAt(code, attempts, 30_000, 1_000)?.getTime() ?? null;

  it('waits twice as long each time, an hour at most, and ends after half a day', () => {
    expect([1, 2, 3].map((attempts) => delayMs('FORGE_UNAVAILABLE', attempts))).toEqual([31_000, 61_000, 121_000]);
    expect(delayMs('FORGE_UNAVAILABLE', 19)).toBe(3_601_000);
    expect(delayMs('FORGE_UNAVAILABLE', 20)).toBeNull();
  });

  it.each(['FORGE_BRANCH_MOVED', 'FORGE_SCOPE_MISSING', 'FORGE_TOKEN_REJECTED', 'FORGE_TAG_TAKEN', 'INTERNAL'])(
    'does not repeat %s, which somebody must mend',
    (code) => {
      expect(delayMs(code, 1)).toBeNull();
    },
  );
});
