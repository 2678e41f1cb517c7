import { age, count, duration, elapsed, size, words } from './phrases';

const NOW = 1_700_000_000_000;

describe('age', () => {
  it.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_999, '59 min'],
    [3_600_000, '1 h'],
    [86_400_000 * 3, '3 d'],
  ])('says %d ms as %s, never rounding up', (ms, said) => {
    expect(age(NOW - ms, NOW)).toBe(said);
  });

  it('says 0 s of a moment that has not come yet', () => {
    expect(age(NOW + 5_000, NOW)).toBe('0 s');
  });
});

describe('duration, elapsed, size, count and words', () => {
  it('chooses the unit by the amount', () => {
    expect([340, 4_200, 200_000].map(duration)).toEqual(['340 ms', '4.2 s', '3 min 20 s']);
    expect([4_250, 125_300, -300].map(elapsed)).toEqual(['+4.250 s', '+2:05.3', '−0.300 s']);
    expect([0, 512, 1024, 67_108_864, 2 ** 60].map(size)).toEqual([
      '0 B',
      '512 B',
      '1.0 KiB',
      '64.0 MiB',
      '1048576.0 TiB',
    ]);
  });

  it('makes words of names and counts', () => {
    expect([count(1, 'machine'), count(2, 'machine'), count(0, 'entry', 'entries')]).toEqual([
      '1 machine',
      '2 machines',
      '0 entries',
    ]);
    expect(words('clean_poweroff')).toBe('clean poweroff');
  });
});
