import { instant, seconds, wholeNumber } from './option-values';

describe('wholeNumber', () => {
  it.each([
    ['0', 0],
    ['256', 256],
  ])('takes %s', (text, value) => {
    expect(wholeNumber(text)).toBe(value);
  });

  it.each(['', ' ', '-1', '1.5', 'abc', '1e99', 'NaN'])('refuses "%s"', (text) => {
    expect(() => wholeNumber(text)).toThrow('It must be a whole number.');
  });
});

describe('seconds', () => {
  it.each([
    ['0', 0],
    ['0.5', 0.5],
    ['86400', 86_400],
  ])('takes %s', (text, value) => {
    expect(seconds(text)).toBe(value);
  });

  it.each(['', 'abc', '-1', '86401', 'Infinity', 'NaN'])('refuses "%s"', (text) => {
    expect(() => seconds(text)).toThrow('It must be a number of seconds');
  });
});

describe('instant', () => {
  it.each([
    ['2024-02-29T12:00:00Z', Date.UTC(2024, 1, 29, 12)],
    ['2024-02-29T12:00Z', Date.UTC(2024, 1, 29, 12)],
    ['2024-03-01T01:00:00+02:00', Date.UTC(2024, 1, 29, 23)],
    ['1970-01-01T00:00:00Z', 0],
  ])('takes %s', (text, value) => {
    expect(instant(text)).toBe(value);
  });

  it.each([
    '',
    'now',
    '2024-02-29',
    '2024-02-29T12:00:00',
    '2023-02-29T12:00:00Z',
    '2024-13-01T00:00:00Z',
    '2101-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
  ])('refuses "%s"', (text) => {
    expect(() => instant(text)).toThrow('It must be a time with its zone');
  });
});
