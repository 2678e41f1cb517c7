import { sampleVerdict } from '../testing/samples';
import { verdictText } from './verdict-text';

describe('verdictText', () => {
  it('gives the class, the account, the bytes that decided and what is missing', () => {
    expect(verdictText(sampleVerdict({ warnings: ['the serial log was cut'] }))).toBe(
      [
        'verdict: clean_poweroff (certain)',
        '  The guest powered off.',
        'evidence:',
        '  serial.log @5120: reboot: Power down',
        '  note: the serial log was cut',
      ].join('\n'),
    );
  });

  it('leaves the heading of the evidence out when there is none', () => {
    expect(verdictText(sampleVerdict({ deciding: [] }))).toBe(
      'verdict: clean_poweroff (certain)\n  The guest powered off.',
    );
  });

  it('does not obey control characters that a guest wrote to its console', () => {
    const deciding = [{ file: 'serial.log', offset: 0, length: 9, quote: '\u001b]0;owned\u0007' }];
    expect(verdictText(sampleVerdict({ deciding }))).not.toContain('\u001b');
  });
});
