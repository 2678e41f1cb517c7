import { sampleConfirmation } from '../testing/samples';
import { answerLines, describeConfirmation } from './confirmation-text';

const NOW_MS = 1_700_000_180_000;

describe('describeConfirmation', () => {
  it('says what is asked, about what, by whom, and how long it still waits', () => {
    const confirmation = sampleConfirmation({
      origin: 'policy',
      verb: 'run',
      question: 'The model wants to call run.',
      argumentsText: 'command: rm -rf build',
      argumentsLength: 21,
    });
    expect(describeConfirmation(confirmation, NOW_MS)).toBe(
      [
        'cnf-2345678923  open  run in project site  (session ses-1, run run-1)',
        '  The model wants to call run.',
        '  command: rm -rf build',
        '  asked 3 min ago, 57 min left',
      ].join('\n'),
    );
  });

  it('says that the arguments are longer than what it shows', () => {
    const text = describeConfirmation(sampleConfirmation({ argumentsText: 'command: x', argumentsLength: 70_000 }), 0);
    expect(text).toContain('the first 10 of 70000 characters');
  });

  it('says what was chosen and said, and lets no text of the model reach the terminal as it is', () => {
    const settled = sampleConfirmation({
      state: 'approved',
      choices: ['a'],
      choice: 'a',
      by: 'gateway',
      reason: 'go\x1b[31m on',
      question: 'Shall I?\r\x1b]0;title\x07',
    });
    const text = describeConfirmation(settled, NOW_MS);
    expect(text).toMatch(/approved by gateway, choice: a: go.*on$/);
    expect(text).not.toMatch(/[\x1b\x07\r]/);
  });

  it('says that the time of an open one is over rather than a time below nothing', () => {
    expect(describeConfirmation(sampleConfirmation(), 1_700_003_600_000)).toContain('its time is over');
  });
});

describe('answerLines', () => {
  it('names a choice where there are some', () => {
    expect(answerLines(sampleConfirmation())[0]).toBe('vmctl agent answer cnf-2345678923 --approve');
    expect(answerLines(sampleConfirmation({ choices: ['a'] }))[0]).toMatch(/--choice/);
  });
});
