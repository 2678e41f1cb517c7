import fc from 'fast-check';
import { decodeTranscript, MAX_PROBLEMS, TranscriptDecoder } from './decode-transcript';
import { encodeEntry, MAX_LINE_BYTES } from './encode-entry';
import { sampleTranscript } from './testing/sample-transcript';

const lines = sampleTranscript().map((entry) => encodeEntry(entry, (text) => text));
const whole = Buffer.concat(lines);
const line = (index: number): Uint8Array => lines[index] ?? Buffer.alloc(0);

describe('decodeTranscript', () => {
  it('reads every acknowledged entry after a crash at any byte, and says when a line is torn', () => {
    for (let length = 0; length <= whole.length; length++) {
      const bytes = whole.subarray(0, length);
      const wholeLines = bytes.filter((byte) => byte === 0x0a).length;
      const { entries, counts, resumeAtBytes, nextSequence } = decodeTranscript(bytes);
      expect(entries.map(({ sequence }) => sequence)).toEqual(lines.slice(0, wholeLines).map((_, index) => index + 1));
      expect(counts.torn_line).toBe(Number(resumeAtBytes !== length));
      expect(counts.malformed_line).toBe(0);
      expect(nextSequence).toBe(wholeLines + 1);
    }
  });

  it('reads the same in pieces of any size', () => {
    const damaged = Buffer.concat([
      line(0),
      Buffer.from('not an entry\n'),
      line(2),
      Buffer.alloc(MAX_LINE_BYTES * 2, 'x'),
      Buffer.from('\n\n'),
      line(3),
      line(4).subarray(0, 20),
    ]);
    for (const size of [3, 64, 1000, 70_000, damaged.length]) {
      const decoder = new TranscriptDecoder();
      const entries = [];
      for (let at = 0; at < damaged.length; at += size) entries.push(...decoder.push(damaged.subarray(at, at + size)));
      expect({ entries, ...decoder.end() }).toEqual(decodeTranscript(damaged));
    }
  });

  it('keeps nothing of a buffer that its caller uses again', () => {
    const decoder = new TranscriptDecoder();
    const buffer = Buffer.alloc(100);
    const entries = [];
    for (let at = 0; at < whole.length; at += buffer.length) {
      const length = whole.copy(buffer, 0, at, at + buffer.length);
      entries.push(...decoder.push(buffer.subarray(0, length)));
    }
    expect({ entries, ...decoder.end() }).toEqual(decodeTranscript(whole));
  });

  it('continues a torn file without losing the next entry', () => {
    const torn = whole.subarray(0, line(0).length + line(1).length + 5);
    const { resumeAtBytes } = decodeTranscript(torn);
    const continued = Buffer.concat([torn.subarray(0, resumeAtBytes), line(2)]);
    expect(decodeTranscript(continued)).toMatchObject({ entries: sampleTranscript().slice(0, 3), problems: [] });
  });

  it('says which entries are missing', () => {
    const { entries, problems } = decodeTranscript(Buffer.concat([line(0), line(3), line(5)]));
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 4, 6]);
    expect(problems).toEqual([
      { kind: 'sequence_gap', line: 2, offset: line(0).length, message: 'entries 2 to 3 are missing before line 2' },
      expect.objectContaining({ kind: 'sequence_gap', message: 'entry 5 is missing before line 3' }),
    ]);
  });

  it('says when an entry comes twice', () => {
    const { problems } = decodeTranscript(Buffer.concat([line(0), line(1), line(1)]));
    expect(problems).toEqual([expect.objectContaining({ kind: 'sequence_repeated', line: 3 })]);
  });

  it.each([
    '',
    '{}',
    '[]',
    'null',
    '{"type":"verb"}',
    '{"type":7,"sequence":1,"atMs":1,"sessionId":"s","runId":null}',
    '\0',
  ])('counts the line %j as malformed and reads on', (bad) => {
    const { entries, counts } = decodeTranscript(Buffer.concat([line(0), Buffer.from(`${bad}\n`), line(1)]));
    expect(entries).toHaveLength(2);
    expect(counts).toMatchObject({ malformed_line: 1, sequence_gap: 0 });
  });

  it('tells a type of a later version from a broken line', () => {
    const later = '{"type":"hologram","sequence":2,"atMs":1,"sessionId":"s-1","runId":null}\n';
    expect(decodeTranscript(Buffer.concat([line(0), Buffer.from(later)])).counts).toMatchObject({
      unknown_type: 1,
      malformed_line: 0,
    });
  });

  it('does not parse a line that no writer of ours could have made', () => {
    const bomb = Buffer.concat([Buffer.from(`"${'x'.repeat(MAX_LINE_BYTES)}"\n`), line(0)]);
    expect(decodeTranscript(bomb).counts.malformed_line).toBe(1);
  });

  it('bounds the described problems and counts them all', () => {
    const { problems, counts } = decodeTranscript(Buffer.from('x\n'.repeat(5000)));
    expect(problems).toHaveLength(MAX_PROBLEMS);
    expect(counts.malformed_line).toBe(5000);
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(whole.length), (noise, at) => {
        const spoiled = Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]);
        const { entries, resumeAtBytes } = decodeTranscript(spoiled);
        expect(entries.length).toBeGreaterThanOrEqual(lines.length - 1);
        expect(resumeAtBytes).toBeLessThanOrEqual(spoiled.length);
      }),
    );
  });
});
