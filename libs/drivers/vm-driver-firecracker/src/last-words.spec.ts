import fc from 'fast-check';
import { LastWords } from './last-words';

const hearAll = (...chunks: readonly string[]): boolean => {
  const words = new LastWords();
  return chunks.map((chunk) => words.hear(Buffer.from(chunk, 'latin1'))).some(Boolean);
};

describe('LastWords', () => {
  it.each([
    '[    7.123456] reboot: Power down\r\n',
    '[12345.678901] reboot: System halted\n',
    '[    7.123456] reboot: Power off not available: System halted instead\r\n',
    '[    7.123456][    T1] reboot: Power down\r\n',
  ])('hears %j', (line) => {
    expect(hearAll(line)).toBe(true);
  });

  it.each([
    'reboot: Power down\n',
    '[    7.123456] reboot: Restarting system\r\n',
    '[    7.123456] reboot: Power down',
    'x[    7.123456] reboot: Power down\n',
    '[    7.123456] reboot: Power down soon\n',
    `${'x'.repeat(1000)}[    7.123456] reboot: Power down\n`,
  ])('takes %j for something else', (text) => {
    expect(hearAll(text)).toBe(false);
  });

  it('hears the same however the bytes are split', () => {
    const text = 'init: bye\r\n[    7.123456] reboot: Power down\r\n';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        expect(hearAll(...at.slice(1).map((end, i) => text.slice(at[i], end)))).toBe(true);
      }),
    );
  });
});
