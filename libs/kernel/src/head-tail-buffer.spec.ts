import fc from 'fast-check';
import { HeadTailBuffer } from './head-tail-buffer';

describe('HeadTailBuffer', () => {
  it('keeps exactly the first and the last bytes for every way of splitting the stream', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
        fc.nat({ max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        (chunks, headBytes, tailBytes) => {
          const buffer = new HeadTailBuffer(headBytes, tailBytes);
          for (const chunk of chunks) buffer.write(chunk);
          const all = Buffer.concat(chunks);
          const { head, tail, droppedBytes } = buffer.read();
          expect(Buffer.from(head)).toEqual(all.subarray(0, headBytes));
          expect(Buffer.from(tail)).toEqual(all.subarray(Math.max(headBytes, all.length - tailBytes)));
          expect(head.length + tail.length + droppedBytes).toBe(all.length);
          expect(buffer.totalBytes).toBe(all.length);
        },
      ),
    );
  });

  it('keeps what it was given when the caller uses the memory again', () => {
    const buffer = new HeadTailBuffer(4, 4);
    const memory = Buffer.alloc(3);
    for (const text of ['abc', 'def', 'ghi', 'jkl']) {
      memory.write(text);
      buffer.write(memory);
    }
    const { head, tail } = buffer.read();
    expect(Buffer.from(head).toString()).toBe('abcd');
    expect(Buffer.from(tail).toString()).toBe('ijkl');
  });
});
