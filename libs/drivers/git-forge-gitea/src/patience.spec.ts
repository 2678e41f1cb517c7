import { delayMsAfter, readBack, retryAfterMs } from './patience';

const PATIENCE = { attempts: 3, firstDelayMs: 1, maxDelayMs: 3 };
const never = new AbortController().signal;

describe('delayMsAfter', () => {
  it('doubles up to its bound, and is up to a quarter shorter by chance', () => {
    const waits = (random: number) => [1, 2, 3, 40].map((attempt) => delayMsAfter(attempt, PATIENCE, () => random));
    expect(waits(0)).toEqual([1, 2, 3, 3]);
    expect(waits(1)).toEqual([0.75, 1.5, 2.25, 2.25]);
  });
});

describe('retryAfterMs', () => {
  const nowMs = Date.parse('2026-01-02T03:04:05Z');
  it.each([
    [null, null],
    ['0', 0],
    ['12', 12_000],
    ['Fri, 02 Jan 2026 03:04:10 GMT', 5_000],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['soon', null],
    ['-1 apples', null],
  ])('reads %j as %j', (value, expected) => {
    expect(retryAfterMs(value, nowMs)).toBe(expected);
  });
});

describe('readBack', () => {
  const counting = () => {
    let count = 0;
    return () => Promise.resolve(++count);
  };

  it('reads until it finds what it expects', async () => {
    expect(await readBack(counting(), (count) => count === 2, PATIENCE, never)).toBe(2);
  });

  it('gives what it read last when its patience ends', async () => {
    expect(await readBack(counting(), () => false, PATIENCE, never)).toBe(3);
  });

  it('stops when it is cancelled', async () => {
    const waiting = readBack(counting(), () => false, { ...PATIENCE, firstDelayMs: 60_000 }, AbortSignal.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });
});
