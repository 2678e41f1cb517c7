import { age, size } from './phrases';

describe('age', () => {
  it.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_999, '59 min'],
    [3_600_000, '1 h'],
    [86_399_999, '23 h'],
    [86_400_000, '1 d'],
    [-5_000, '0 s'],
  ])('shows %d ms in the largest whole unit, %s', (elapsedMs, shown) => {
    expect(age(1_000_000, 1_000_000 + elapsedMs)).toBe(shown);
  });
});

describe('size', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [64 * 1024 ** 2, '64.0 MiB'],
    [1024 ** 5 * 2, '2048.0 TiB'],
  ])('shows %d bytes in binary units, %s', (bytes, shown) => {
    expect(size(bytes)).toBe(shown);
  });
});
