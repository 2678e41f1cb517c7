import { withoutText } from './without-text';

describe('a combination of keys on record', () => {
  it.each([
    ['ctrl+alt+delete', 'ctrl+alt+delete'],
    ['Ctrl+C', 'ctrl+c'],
    ['enter', 'enter'],
    ['shift+f5', 'shift+f5'],
    ['a', 'character'],
    ['shift+A', 'shift+character'],
    ['altgr+q', 'altgr+character'],
    ['space', 'character'],
    ['a+b', 'character+character'],
  ])('%s stands there as %s', (combination, recorded) => {
    expect(withoutText(combination)).toBe(recorded);
  });
});
