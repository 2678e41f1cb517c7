import fc from 'fast-check';
import { ReceiveBuffer } from './receive-buffer';

const drain = (buffer: ReceiveBuffer): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let chunk = buffer.shift(); chunk !== null; chunk = buffer.shift()) chunks.push(chunk);
  return chunks;
};

describe('ReceiveBuffer', () => {
  it('gives back the bytes in order, whatever their pieces and however reads come between', () => {
    const anyStep = fc.oneof(fc.integer({ min: 1, max: 40_000 }), fc.constant('read' as const));
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), (steps) => {
        const buffer = new ReceiveBuffer();
        const written: Buffer[] = [];
        const read: Buffer[] = [];
        for (const [index, step] of steps.entries()) {
          if (step === 'read') {
            const chunk = buffer.shift();
            if (chunk !== null) read.push(chunk);
          } else {
            written.push(Buffer.alloc(step, `piece ${index} `));
            buffer.append(written[written.length - 1] as Buffer);
          }
        }
        read.push(...drain(buffer));
        expect(Buffer.concat(read).equals(Buffer.concat(written))).toBe(true);
        expect(buffer.isEmpty).toBe(true);
      }),
    );
  });

  it('holds a window of single bytes in few chunks that pin nothing else', () => {
    const buffer = new ReceiveBuffer();
    const socketChunk = Buffer.alloc(64 * 1024, 7);
    for (let i = 0; i < 256 * 1024; i++) buffer.append(socketChunk.subarray(i % 1000, (i % 1000) + 1));
    const chunks = drain(buffer);
    expect(chunks).toHaveLength(16);
    expect(chunks.every((chunk) => chunk.buffer.byteLength === 16 * 1024)).toBe(true);
  });

  it('copies no large piece', () => {
    const buffer = new ReceiveBuffer();
    const large = Buffer.alloc(64 * 1024);
    buffer.append(large);
    expect(buffer.shift()).toBe(large);
  });
});
