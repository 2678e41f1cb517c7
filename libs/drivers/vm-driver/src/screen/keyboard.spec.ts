import { strokeOfCombination, strokesOfText, TYPED_TEXT_MAX_CHARS } from './keyboard';

describe('strokesOfText', () => {
  it('has a stroke for every printable ASCII character, Enter and Tab', () => {
    const printable = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at)).join('');
    const strokes = strokesOfText(`${printable}\n\t`);
    expect(strokes).toHaveLength(printable.length + 2);
    expect(new Set(strokes.map((stroke) => stroke.join('+'))).size).toBe(strokes.length);
    for (const stroke of strokes) for (const key of stroke) expect(key).toMatch(/^[a-z0-9_]+$/);
  });

  it.each([
    ['a', [['a']]],
    ['A1!', [['shift', 'a'], ['1'], ['shift', '1']]],
    ['_\n', [['shift', 'minus'], ['ret']]],
    [
      '"|',
      [
        ['shift', 'apostrophe'],
        ['shift', 'backslash'],
      ],
    ],
  ])('types %j as a person would', (text, expected) => {
    expect(strokesOfText(text)).toEqual(expected);
  });

  it.each(['é', '\u0000', '\u001b', '😀', 'constructor\u0300'])('refuses %j whole, because no key types it', (text) => {
    expect(() => strokesOfText(text)).toThrow(
      expect.objectContaining({ code: 'VM_INPUT_INVALID', message: expect.stringContaining('U+') }),
    );
  });

  it('refuses a text that is too long before it looks at it', () => {
    expect(strokesOfText('a'.repeat(TYPED_TEXT_MAX_CHARS))).toHaveLength(TYPED_TEXT_MAX_CHARS);
    expect(() => strokesOfText('é'.repeat(TYPED_TEXT_MAX_CHARS + 1))).toThrow(/1025 characters/);
  });
});

describe('strokeOfCombination', () => {
  it.each([
    ['ctrl+alt+delete', ['ctrl', 'alt', 'delete']],
    ['Ctrl+C', ['ctrl', 'shift', 'c']],
    ['ctrl+c', ['ctrl', 'c']],
    ['shift+A', ['shift', 'a']],
    ['F12', ['f12']],
    ['enter', ['ret']],
    ['?', ['shift', 'slash']],
  ])('holds the keys of %s down together, each once', (combination, expected) => {
    expect(strokeOfCombination(combination)).toEqual(expected);
  });

  it.each(['', 'ctrl+', 'hyper+x', 'constructor', '__proto__', 'ctrl+alt+shift+a+b+c', 'qq'])(
    'refuses %j',
    (combination) => {
      expect(() => strokeOfCombination(combination)).toThrow(expect.objectContaining({ code: 'VM_INPUT_INVALID' }));
    },
  );
});
