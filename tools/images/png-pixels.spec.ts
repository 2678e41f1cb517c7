import { crc32, deflateSync } from 'node:zlib';
import { coloursOf } from './png-pixels.mjs';

const chunk = (type: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};

/** A PNG of rows that are filtered already: each begins with the number of its filter. */
const pngOf = (width: number, rows: readonly (readonly number[])[], colourType = 2): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, colourType], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

describe('coloursOf', () => {
  it('gives each colour with its share, the most frequent first', () => {
    const rows = [
      [0, 1, 2, 3, 255, 255, 255],
      [0, 1, 2, 3, 1, 2, 3],
    ];
    expect([...coloursOf(pngOf(2, rows))]).toEqual([
      ['#010203', 0.75],
      ['#ffffff', 0.25],
    ]);
  });

  it.each([
    ['none', [0, 10, 20, 30, 10, 20, 30]],
    ['the pixel on the left', [1, 10, 20, 30, 0, 0, 0]],
    ['the pixel above', [2, 0, 0, 0, 0, 0, 0]],
    ['the mean of both', [3, 5, 10, 15, 0, 0, 0]],
    ['the nearest of three', [4, 0, 0, 0, 0, 0, 0]],
  ])('undoes the filter that takes away %s', (_what, row) => {
    const first = [0, 10, 20, 30, 10, 20, 30];
    expect([...coloursOf(pngOf(2, [first, row]))]).toEqual([['#0a141e', 1]]);
  });

  it('leaves transparency out', () => {
    expect([...coloursOf(pngOf(1, [[0, 1, 2, 3, 0]], 6))]).toEqual([['#010203', 1]]);
  });

  it.each([
    ['something else', Buffer.from('GIF89a, or not')],
    ['a PNG with a palette', pngOf(1, [[0, 1]], 3)],
  ])('refuses %s', (_what, bytes) => {
    expect(() => coloursOf(bytes)).toThrow();
  });
});
