import fc from 'fast-check';
import { TerminalText } from './terminal-text';

const textOf = (raw: string, pieceBytes = raw.length): string => {
  const text = new TerminalText();
  const bytes = Buffer.from(raw);
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(1, pieceBytes)) {
    out.push(text.write(bytes.subarray(at, at + Math.max(1, pieceBytes))));
  }
  return Buffer.concat(out).toString();
};

describe('TerminalText', () => {
  it.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['movements of the cursor and questions to the terminal', 'a\x1b[2K\x1b[?25l\x1b[6nb', 'ab'],
    ['a title that a bell ends', '\x1b]0;title\x07text', 'text'],
    ['a link that a string terminator ends', '\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\', 'here'],
    ['device strings', '\x1bPq#0\x1b\\\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\text', 'text'],
    ['character sets and keypad modes', '\x1b(B\x1b=\x1b>text', 'text'],
    ['a sequence that another one breaks off', '\x1b[1\x1b[0mtext', 'text'],
    ['the carriage returns of line ends and no others', 'a\r\nb\rc\r\r\nd', 'a\nb\rc\r\nd'],
    ['nothing of a text in UTF-8', 'é ☃ ]0; [31m', 'é ☃ ]0; [31m'],
  ])('takes out %s', (_, raw, expected) => {
    expect(textOf(raw)).toBe(expected);
  });

  it('lets no string that never ends hide more than 4 KiB', () => {
    expect(textOf(`\x1b]0;${'x'.repeat(5000)}after`)).toMatch(/^x{900,1000}after$/);
  });

  it('gives the same however the bytes are split, and no more of them than came', () => {
    const pieces = fc.constantFrom('a', '\r', '\n', '\x1b', '[', ']', '0', ';', 'm', '\x07', '\\', 'P', 'é', '\x18');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (parts, pieceBytes) => {
        const raw = parts.join('');
        const whole = textOf(raw);
        expect(textOf(raw, pieceBytes)).toBe(whole);
        expect(whole.length).toBeLessThanOrEqual(raw.length);
        expect(whole).not.toContain('\x1b');
      }),
    );
  });
});
