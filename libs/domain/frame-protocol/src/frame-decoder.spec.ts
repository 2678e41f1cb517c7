import { isDomainError } from '@inquest/kernel';
import fc from 'fast-check';
import { type DataKind, type Frame } from './frame';
import { FrameDecoder } from './frame-decoder';
import { chunkData, encodeControl, encodeData, encodeEnd } from './frame-encoder';
import { MAX_CONTROL_FRAME_BYTES, MAX_DATA_BYTES } from './limits';

const DATA_KINDS: readonly DataKind[] = ['data-to-guest', 'stdout', 'stderr', 'data-from-guest'];

const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constant('control' as const), body: fc.dictionary(fc.string(), fc.jsonValue()) }),
  fc.record({ kind: fc.constantFrom(...DATA_KINDS), bytes: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({ kind: fc.constant('end' as const) }),
);

const encode = (frame: Frame): Uint8Array => {
  if (frame.kind === 'end') return encodeEnd();
  return frame.kind === 'control' ? encodeControl(frame.body) : encodeData(frame.kind, frame.bytes);
};

/** Cuts at the given places; places are taken modulo the length, in order. */
const cut = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...ends].map((start, i) => bytes.slice(start, ends[i] ?? bytes.length));
};

interface Decoded {
  readonly frames: readonly unknown[];
  readonly error: string | null;
}

const decode = (chunks: readonly Uint8Array[]): Decoded => {
  const decoder = new FrameDecoder();
  const frames: unknown[] = [];
  try {
    for (const chunk of chunks) for (const frame of decoder.push(chunk)) frames.push(comparable(frame));
    decoder.end();
    return { frames, error: null };
  } catch (e) {
    if (!isDomainError(e)) throw e;
    return { frames, error: e.code };
  }
};

const comparable = (frame: Frame): unknown => {
  if (frame.kind === 'control') return { kind: frame.kind, body: JSON.stringify(frame.body) };
  return frame.kind === 'end' ? frame : { kind: frame.kind, bytes: Buffer.from(frame.bytes).toString('hex') };
};

describe('FrameDecoder', () => {
  it('gives back any frames through any split of their bytes', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 20 }), (frames, places) => {
        const chunks = cut(Buffer.concat(frames.map(encode)), places);
        expect(decode(chunks)).toEqual({ frames: frames.map(comparable), error: null });
      }),
    );
  });

  it('throws nothing but its own errors on any bytes, and the same ones for every split', () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      // Small lengths reach the code behind the length check far more often than random ones do.
      fc
        .array(fc.tuple(fc.nat({ max: 6 }), fc.uint8Array({ maxLength: 8 })), { maxLength: 20 })
        .map((parts) =>
          Buffer.concat(parts.map(([length, payload]) => Buffer.concat([Buffer.from([0, 0, 0, length]), payload]))),
        ),
    );
    fc.assert(
      fc.property(anyBytes, fc.array(fc.nat(), { maxLength: 20 }), (bytes, places) => {
        expect(decode(cut(bytes, places))).toEqual(decode([bytes]));
      }),
      { numRuns: 400 },
    );
  });

  it('survives one changed byte anywhere in good frames', () => {
    const changes = fc.record({
      frames: fc.array(anyFrame, { minLength: 1, maxLength: 6 }),
      at: fc.nat(),
      value: fc.nat({ max: 255 }),
    });
    fc.assert(
      fc.property(changes, ({ frames, at, value }) => {
        const bytes = Buffer.concat(frames.map(encode));
        bytes[at % bytes.length] = value;
        const whole = decode([bytes]);
        expect(decode(cut(bytes, [at, at + 1]))).toEqual(whole);
      }),
      { numRuns: 400 },
    );
  });

  it('refuses a length above the limit before it has read the payload', () => {
    const decoder = new FrameDecoder();
    const tooLong = Buffer.alloc(4);
    tooLong.writeUInt32BE(MAX_CONTROL_FRAME_BYTES + 1);
    expect(() => [...decoder.push(tooLong)]).toThrow(
      expect.objectContaining({ code: 'FRAME_OVERSIZED', fault: 'guest' }),
    );
  });

  it('gives the frames before a bad one, then the same error on every further call', () => {
    const decoder = new FrameDecoder();
    const seen: string[] = [];
    const feed = (): void => {
      for (const frame of decoder.push(Buffer.concat([encodeEnd(), Buffer.alloc(4)]))) seen.push(frame.kind);
    };
    expect(feed).toThrow(expect.objectContaining({ code: 'FRAME_EMPTY' }));
    expect(feed).toThrow(expect.objectContaining({ code: 'FRAME_EMPTY' }));
    expect(() => decoder.end()).toThrow(expect.objectContaining({ code: 'FRAME_EMPTY' }));
    expect(seen).toEqual(['end']);
  });

  it('accepts a control frame of exactly 1 MiB', () => {
    const body = { text: 'x'.repeat(MAX_CONTROL_FRAME_BYTES - '{"text":""}'.length) };
    expect([...new FrameDecoder().push(encodeControl(body))]).toEqual([{ kind: 'control', body }]);
  });

  it('copies no data of a frame that arrives in one piece', () => {
    const chunk = encodeData('stdout', Buffer.from('abc'));
    const [frame] = [...new FrameDecoder().push(chunk)];
    expect(frame).toMatchObject({ kind: 'stdout' });
    expect(frame?.kind === 'stdout' && frame.bytes.buffer === chunk.buffer).toBe(true);
  });

  it('holds no more than the frame that is arriving, however small its pieces are', () => {
    const decoder = new FrameDecoder();
    const frame = encodeData('stdout', new Uint8Array(MAX_DATA_BYTES).fill(7));
    const before = process.memoryUsage().arrayBuffers;
    const frames: Frame[] = [];
    for (let at = 0; at < frame.length; at++) frames.push(...decoder.push(frame.subarray(at, at + 1)));
    expect(frames).toEqual([{ kind: 'stdout', bytes: new Uint8Array(MAX_DATA_BYTES).fill(7) }]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MAX_DATA_BYTES);
  });
});

describe('encoders', () => {
  it('refuse what no frame can carry', () => {
    const tooLarge = expect.objectContaining({ code: 'REQUEST_OVERSIZED', fault: 'caller' });
    expect(() => encodeData('stdout', new Uint8Array(MAX_DATA_BYTES + 1))).toThrow(tooLarge);
    expect(() => encodeControl({ shell: 'x'.repeat(MAX_CONTROL_FRAME_BYTES) })).toThrow(tooLarge);
  });

  it('cut data of any size into frames whose payloads are views of it', () => {
    const bytes = new Uint8Array(2 * MAX_DATA_BYTES + 3).fill(9);
    const pieces = [...chunkData('data-to-guest', bytes)];
    const frames = [...new FrameDecoder().push(Buffer.concat(pieces))];
    expect(frames.map((f) => f.kind === 'data-to-guest' && f.bytes.length)).toEqual([
      MAX_DATA_BYTES,
      MAX_DATA_BYTES,
      3,
    ]);
    expect(pieces.filter((piece) => piece.buffer === bytes.buffer)).toHaveLength(3);
  });

  it('cut nothing into no frame', () => {
    expect([...chunkData('data-to-guest', new Uint8Array(0))]).toEqual([]);
  });
});
