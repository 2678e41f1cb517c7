import fc from 'fast-check';
import { OutputRing } from './output-ring';

describe('OutputRing', () => {
  it('gives back the end of whatever was written, in whatever pieces, by its offset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.uint8Array({ maxLength: 90 }), { maxLength: 20 }),
        fc.nat(),
        fc.integer({ min: 0, max: 100 }),
        (capacity, pieces, seed, maxBytes) => {
          const ring = new OutputRing(capacity);
          for (const piece of pieces) ring.write(piece);
          const all = Buffer.concat(pieces);
          expect([ring.start, ring.end]).toEqual([Math.max(0, all.length - capacity), all.length]);
          const from = ring.start + (seed % (ring.end - ring.start + 1));
          expect(ring.read(from, maxBytes)).toEqual(all.subarray(from, from + maxBytes));
        },
      ),
    );
  });

  it('gives copies, which later output does not change', () => {
    const ring = new OutputRing(4);
    ring.write(Buffer.from('abcd'));
    const read = ring.read(0, 4);
    ring.write(Buffer.from('efgh'));
    expect(read.toString()).toBe('abcd');
  });
});
