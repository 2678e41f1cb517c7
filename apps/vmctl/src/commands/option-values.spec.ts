import { seconds, wholeNumber } from './option-values';

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
