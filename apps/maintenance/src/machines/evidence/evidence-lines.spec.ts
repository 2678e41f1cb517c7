import { isCited, linesOf, objectOf } from './evidence-lines';

const line = (text: string) => ({ text, offset: 0, length: text.length });

describe('linesOf', () => {
  it('says where each line stands, in bytes of the file', () => {
    expect(linesOf('grün\r\nrot\n', 0)).toEqual([
      { text: 'grün', offset: 0, length: 6 },
      { text: 'rot', offset: 7, length: 3 },
    ]);
  });

  it('leaves out the line that it sees only the end of', () => {
    expect(linesOf('half\nwhole', 100)).toEqual([{ text: 'whole', offset: 105, length: 5 }]);
  });

  it('gives no line for no text', () => {
    expect(linesOf('', 0)).toEqual([]);
  });
});

describe('objectOf', () => {
  it('gives null for whatever is not one object', () => {
    expect(['{"a":1', '[1]', '7', 'null', ''].map((text) => objectOf(line(text)))).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(objectOf(line('{"a":1}'))).toEqual({ a: 1 });
  });
});

describe('isCited', () => {
  it('holds for a line that a place lies in or begins in, and for no neighbour', () => {
    const second = { offset: 10, length: 5 };
    expect(isCited(second, [{ offset: 12, length: 2 }])).toBe(true);
    expect(isCited(second, [{ offset: 10, length: 0 }])).toBe(true);
    expect(isCited(second, [{ offset: 15, length: 4 }])).toBe(false);
    expect(isCited(second, [{ offset: 0, length: 10 }])).toBe(false);
    expect(isCited(second, [])).toBe(false);
  });
});
