import fc from 'fast-check';
import { decodeTranscript } from './decode-transcript';
import { encodeEntry, MAX_LINE_BYTES } from './encode-entry';
import type { JsonValue, TranscriptEntry } from './entry';
import { ENTRY_TYPES } from './entry-shape';
import { createRedactor, type Redact } from './redactor';
import { sampleTranscript, SampleSession } from './testing/sample-transcript';

const keepAll: Redact = (text) => text;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const only = (entries: readonly TranscriptEntry[]): TranscriptEntry => {
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) throw new Error(`expected one entry, got ${entries.length}`);
  return entry;
};
const verbWith = (args: JsonValue, summary = ''): TranscriptEntry =>
  only(new SampleSession().verb('run', args, summary).entries);

describe('encodeEntry', () => {
  it('gives back every type of entry as it was', () => {
    const entries = sampleTranscript();
    expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(ENTRY_TYPES));
    const bytes = Buffer.concat(entries.map((entry) => encodeEntry(entry, keepAll)));
    expect(decodeTranscript(bytes)).toMatchObject({ entries, problems: [], nextSequence: entries.length + 1 });
  });

  it('gives one line of bounded size for any arguments', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.nat(20_000),
        (args, word, times) => {
          const line = encodeEntry(verbWith(args as JsonValue, word.repeat(times)), keepAll);
          expect(line.length).toBeLessThanOrEqual(MAX_LINE_BYTES);
          expect(line.indexOf(0x0a)).toBe(line.length - 1);
          expect(decodeTranscript(line).entries).toHaveLength(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('says what it left out', () => {
    const line = encodeEntry(
      verbWith(
        Array.from({ length: 2500 }, () => 0),
        'x'.repeat(10_000),
      ),
      keepAll,
    );
    const entry = only(decodeTranscript(line).entries);
    expect(entry.cut).toEqual({ characters: 10_000 - 8192, items: 500 });
    expect(text(line)).toContain('…[1808 characters cut]…');
  });

  it('records even arguments that branch without end', () => {
    const branch = (depth: number): JsonValue =>
      depth === 0 ? 'leaf'.repeat(20) : [1, 2, 3, 4].map(() => branch(depth - 1));
    const line = encodeEntry(verbWith(branch(8)), keepAll);
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_BYTES);
    expect(only(decodeTranscript(line).entries).cut?.items).toBeGreaterThan(0);
  });

  it('records a publication of very many files, and says that its lists were cut', () => {
    const paths = Array.from({ length: 5000 }, (_, index) => `src/some/directory/file-${index}.ts`);
    const held = paths.map((path) => ({ path, rule: 'log', why: 'a log file' }));
    const publication = { commit: null, branch: null, kept: paths, held, pushed: false, detail: 'no forge' };
    const entry = only(new SampleSession().add('publication', publication).entries);
    const decoded = only(decodeTranscript(encodeEntry(entry, keepAll)).entries);
    expect(decoded).toMatchObject({ type: 'publication', detail: 'no forge' });
    expect(decoded.cut?.items).toBeGreaterThan(5000);
  });

  it('bounds nesting instead of exhausting the stack', () => {
    let deep: JsonValue = 'bottom';
    for (let level = 0; level < 5000; level++) deep = [deep];
    expect(only(decodeTranscript(encodeEntry(verbWith(deep), keepAll)).entries).cut).toEqual({
      characters: 0,
      items: 1,
    });
  });

  it('refuses an entry that lacks a property, naming it by sequence and type', () => {
    const { summary: _summary, ...torn } = verbWith({}) as TranscriptEntry & { summary: string };
    expect(() => encodeEntry(torn as unknown as TranscriptEntry, keepAll)).toThrow(
      expect.objectContaining({
        code: 'TRANSCRIPT_ENTRY_INVALID',
        message: expect.stringContaining('entry 1 of type "verb"'),
      }),
    );
  });

  it('lets no registered secret through, wherever and however it was written', () => {
    // The prefix makes its middle long enough not to occur in the line by chance.
    const secret = fc
      .string({ unit: 'grapheme-ascii', minLength: 2, maxLength: 40 })
      .map((value) => `CANARY-7${value}`);
    const disguises: readonly ((value: string) => string)[] = [
      (value) => value,
      (value) => JSON.stringify({ token: value }),
      (value) => encodeURIComponent(value),
      (value) => Buffer.from(value).toString('base64'),
      (value) => Buffer.from(`user:${value}@host`).toString('base64'),
      (value) => Buffer.from(value).toString('hex'),
    ];
    fc.assert(
      fc.property(secret, fc.constantFrom(...disguises), fc.nat(20_000), (value, disguise, padding) => {
        const { redact } = createRedactor([{ name: 'TOKEN', value }]);
        const hidden = `${' '.repeat(padding)}${disguise(value)}\n`;
        const entry = verbWith({ [hidden]: [{ nested: hidden }] }, hidden);
        const line = text(encodeEntry(entry, redact));
        expect(line).not.toContain(disguise(value).slice(2, -2));
        expect(line).toContain('[redacted TOKEN]');
      }),
      { numRuns: 300 },
    );
  });

  it('leaves no part of a secret that lies across the place where a text is cut', () => {
    const value = 'canary-0123456789-canary';
    const { redact } = createRedactor([{ name: 'TOKEN', value }]);
    for (let at = 6144 - value.length; at <= 6144; at++) {
      const line = text(encodeEntry(verbWith({}, 'x'.repeat(at) + value + 'y'.repeat(9000)), redact));
      expect(line).not.toMatch(/canary|0123/);
    }
  });

  it('takes out a secret that a model passes as a number', () => {
    const { redact } = createRedactor([{ name: 'PIN', value: '73519264' }]);
    expect(text(encodeEntry(verbWith({ pin: 73519264 }), redact))).not.toContain('73519264');
  });

  it('stays readable when a secret is spelled like a word of the format', () => {
    const { redact } = createRedactor([{ name: 'WORD', value: 'failed' }]);
    const entries = new SampleSession().verb('run', {}, '', 'failed').entries;
    expect(decodeTranscript(encodeEntry(only(entries), redact))).toMatchObject({ entries, problems: [] });
  });
});
