import { OutputRing } from './output-ring';
import { replayOf } from './replay';

const ringOf = (text: string, capacity = 1024): OutputRing => {
  const ring = new OutputRing(capacity);
  ring.write(Buffer.from(text, 'latin1'));
  return ring;
};
const replayed = (text: string): string => replayOf(ringOf(text), null).bytes.toString('latin1');

describe('the replay of a terminal', () => {
  it.each([
    ['the cursor report', '\x1b[6n'],
    ['the private cursor report', '\x1b[?6n'],
    ['the status report', '\x1b[5n'],
    ['device attributes', '\x1b[c'],
    ['device attributes with a parameter', '\x1b[0c'],
    ['secondary device attributes', '\x1b[>c'],
    ['tertiary device attributes', '\x1b[=0c'],
    ['the version of the terminal', '\x1b[>0q'],
    ['a mode', '\x1b[?2026$p'],
    ['the background colour', '\x1b]11;?\x07'],
    ['a colour of the palette', '\x1b]4;12;?\x1b\\'],
    ['a setting', '\x1bP$qm\x1b\\'],
    ['a capability', '\x1bP+q544e\x1b\\'],
  ])('leaves out the question for %s', (_, question) => {
    expect(replayed(`a${question}b`)).toBe('ab');
  });

  it.each([
    '\x1b[31mred\x1b[0m',
    '\x1b[2;5H',
    '\x1b]0;title\x07',
    '\x1b[?1049h',
    '\x1b]11;#102030\x07',
    'caf\xc3\xa9',
    '\xff\x00',
  ])('shows everything else as it was: %j', (output) => {
    expect(replayed(output)).toBe(output);
  });

  it('begins with a whole line where the beginning is not kept any more', () => {
    expect(replayOf(ringOf('0123456789\r\nwhole\r\n', 12), null).bytes.toString()).toBe('whole\r\n');
    expect(replayOf(ringOf('0123456789', 4), null).bytes.toString()).toBe('6789');
  });

  it('goes on without a gap where an offset is still kept, and begins anew where it is not', () => {
    const ring = ringOf('first\nsecond\nthird', 12);
    expect(replayOf(ring, 13)).toEqual({ bytes: Buffer.from('third'), offset: 18 });
    expect(replayOf(ring, 18)).toEqual({ bytes: Buffer.alloc(0), offset: 18 });
    for (const lost of [0, 99]) expect(replayOf(ring, lost).bytes.toString()).toBe('third');
  });

  it('takes time in proportion to its length, whatever the guest writes', () => {
    const hostile = ['\x1b[', '\x1b[>', '\x1b]4;', '\x1bP+q', '\x1b[?1'].map((start) => start.repeat(50_000)).join('');
    expect(replayOf(ringOf(hostile, hostile.length), null).bytes.length).toBe(hostile.length);
  });
});
