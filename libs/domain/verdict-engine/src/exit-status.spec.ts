import { exitStatusFor } from './exit-status';
import { VERDICT_CLASSES, type VerdictClass } from './verdict';

describe('exitStatusFor', () => {
  it.each<[VerdictClass, number]>([
    ['clean_poweroff', 0],
    ['forced_poweroff', 83],
    ['dirty_poweroff', 83],
    ['guest_reset', 84],
    ['reset_loop', 84],
    ['panicked', 85],
    ['watchdog_fired', 85],
    ['host_killed', 86],
    ['vmm_crashed', 86],
    ['io_error', 86],
    ['host_error', 86],
    ['hung', 87],
    ['agent_lost', 87],
    ['still_running', 87],
    ['suspended', 88],
    ['unknown', 89],
  ])('of %s is %i by default', (verdictClass, status) => {
    expect(exitStatusFor({ class: verdictClass })).toBe(status);
  });

  it.each(VERDICT_CLASSES.filter((c) => c !== 'unknown'))('of %s is 0 when it was asked for', (verdictClass) => {
    expect(exitStatusFor({ class: verdictClass }, verdictClass)).toBe(0);
  });

  it('of an unknown ending is never a pass', () => {
    expect(exitStatusFor({ class: 'unknown' }, 'unknown')).toBe(89);
  });

  it('of a clean power-off is not 0 when another ending was asked for', () => {
    expect(exitStatusFor({ class: 'clean_poweroff' }, 'panicked')).toBe(83);
  });
});
