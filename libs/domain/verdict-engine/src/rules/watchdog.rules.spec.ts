import { judge, POWER_DOWN, powersOff, SYSTEMD_STOPS } from '../testing/built-endings';
import { bootedGuest } from '../testing/evidence-builder';

describe('the watchdog', () => {
  it('decides without a SHUTDOWN event when its action is poweroff', () => {
    const guest = bootedGuest().event(9000, 'WATCHDOG', { action: 'poweroff' }).exit(9010, 0);
    expect(judge(guest)).toMatchObject({ class: 'watchdog_fired', ended: true });
  });

  it('does not decide when the guest powered off long after it', () => {
    const guest = bootedGuest()
      .event(9000, 'WATCHDOG', { action: 'none' })
      .serial(...SYSTEMD_STOPS, POWER_DOWN);
    expect(judge(powersOff(guest)).class).toBe('clean_poweroff');
  });

  it('decides by the time of its event, not by its arrival', () => {
    const guest = bootedGuest()
      .event(9002, 'SHUTDOWN', { guest: true, reason: 'guest-reset' })
      .event(9000, 'WATCHDOG', { action: 'reset' })
      .exit(9010, 0);
    expect(judge(guest).class).toBe('watchdog_fired');
  });
});
