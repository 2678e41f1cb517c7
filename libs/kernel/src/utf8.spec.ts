import { leadingContinuations, wholeCharacters } from './utf8';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('text that is read in parts', () => {
  it.each(['plain', 'zwölf', 'ends with é', '日本', 'ok 🦊'])('keeps all of %j', (text) => {
    expect(wholeCharacters(bytes(text))).toBe(bytes(text).length);
  });

  it.each([
    ['é', 1],
    ['日', 1],
    ['日', 2],
    ['🦊', 1],
    ['🦊', 2],
    ['🦊', 3],
  ])('leaves a last %s of which %d byte(s) are missing to the next part', (character, missing) => {
    const text = bytes(`abc${character}`);
    const cut = text.subarray(0, text.length - missing);
    expect(wholeCharacters(cut)).toBe(3);
    expect(leadingContinuations(text.subarray(cut.length))).toBe(missing);
  });

  it.each([[[0xff, 0xff]], [[0x80, 0x80, 0x80, 0x80, 0x80]], [[0xe2]], [[0x41, 0x80, 0x80, 0x80, 0x80]]])(
    'gets on in bytes %j, which are no UTF-8',
    (content) => {
      expect(wholeCharacters(Uint8Array.from(content))).toBeGreaterThan(0);
    },
  );

  it('has nothing in nothing', () => {
    expect(wholeCharacters(new Uint8Array())).toBe(0);
    expect(leadingContinuations(new Uint8Array())).toBe(0);
  });
});
