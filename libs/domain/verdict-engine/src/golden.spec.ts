import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawVerdict } from './draw-verdict';
import { evidenceOfRecordedEnding, type RecordedEnding } from './testing/recorded-ending';
import { encodeVerdict, type Verdict } from './verdict';

/** What a recorded ending must be judged to be; `why` explains the ones that could be argued about. */
type Expected = Pick<Verdict, 'class' | 'confidence' | 'rule' | 'boots' | 'blame' | 'ended' | 'warnings'> & {
  readonly why?: string;
};

const GOLDEN = join(__dirname, '..', 'golden');
const names = readdirSync(GOLDEN).sort();

function recordedEnding(name: string): RecordedEnding {
  const read = (file: string) => new Uint8Array(readFileSync(join(GOLDEN, name, file)));
  return { name, events: read('events.jsonl'), serial: read('serial.log'), recorded: read('recorded.json') };
}

function readExpected(name: string): Expected {
  return JSON.parse(readFileSync(join(GOLDEN, name, 'expected.json'), 'utf8')) as Expected;
}

function writeExpected(name: string, { class: c, confidence, rule, boots, blame, ended, warnings }: Verdict): void {
  let why: string | undefined;
  try {
    why = readExpected(name).why;
  } catch {
    why = undefined;
  }
  const expected: Expected = {
    class: c,
    confidence,
    rule,
    boots,
    blame,
    ended,
    warnings,
    ...(why === undefined ? {} : { why }),
  };
  writeFileSync(join(GOLDEN, name, 'expected.json'), `${JSON.stringify(expected, null, 2)}\n`);
}

describe('recorded endings of real guests', () => {
  it('are all there', () => {
    expect(names).toHaveLength(65);
  });

  it.each(names)('%s gets its expected verdict', (name) => {
    const verdict = drawVerdict(evidenceOfRecordedEnding(recordedEnding(name)));
    if (process.env['INQUEST_UPDATE_GOLDEN'] === '1') writeExpected(name, verdict);
    const { why, ...expected } = readExpected(name);
    expect(why === undefined || why.length > 0).toBe(true);
    expect(verdict).toMatchObject(expected);
  });

  it.each(names)('%s is cited where the quote stands', (name) => {
    const evidence = evidenceOfRecordedEnding(recordedEnding(name));
    const verdict = drawVerdict(evidence);
    expect(verdict.deciding.length).toBeGreaterThan(0);
    for (const { file, offset, length, quote } of [...verdict.deciding, ...verdict.contributing]) {
      if (file !== 'events.jsonl' && file !== 'serial.log') continue;
      const bytes = file === 'events.jsonl' ? evidence.events : evidence.serialHead;
      const text = new TextDecoder('latin1').decode(bytes.subarray(offset, offset + length));
      expect(length).toBeGreaterThan(0);
      if (file === 'events.jsonl') expect(text.startsWith(quote.slice(0, 190))).toBe(true);
      else expect(text).toMatch(/\S/);
    }
  });

  it.each(names)('%s gives the same bytes when computed again', (name) => {
    const evidence = evidenceOfRecordedEnding(recordedEnding(name));
    expect(encodeVerdict(drawVerdict(evidence))).toBe(encodeVerdict(drawVerdict(evidence)));
  });
});
