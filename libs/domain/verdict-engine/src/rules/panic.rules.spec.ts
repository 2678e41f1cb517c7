import { judge, PANIC, POWER_DOWN, powersOff, resets, SYSTEMD_STOPS } from '../testing/built-endings';
import { BOOT_LINES, bootedGuest } from '../testing/evidence-builder';

describe('panic', () => {
  it('beats the reset that follows it', () => {
    const verdict = judge(resets(bootedGuest().serial(...PANIC, '[   10.200000] Rebooting in 1 seconds..')));
    expect(verdict).toMatchObject({ class: 'panicked', blame: 'guest', ended: true });
    expect(verdict.account).toContain('kernel panic: Fatal exception');
  });

  it('beats the kill that follows it', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .ping(12_000, false);
    expect(judge(guest.action(30_000, 'destroy').exit(30_100, null, 'SIGKILL')).class).toBe('panicked');
  });

  it('is certain when pvpanic reports it', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .event(10_000, 'GUEST_PANICKED', { action: 'run' });
    expect(judge(resets(guest))).toMatchObject({ class: 'panicked', confidence: 'certain' });
  });

  it('names the oops that led to it', () => {
    const guest = bootedGuest().serial(
      '[    9.900000] BUG: kernel NULL pointer dereference, address: 0000000000000008',
      '[    9.900100] RIP: 0010:broken_ioctl+0x12/0x40 [broken]',
      '[    9.900200] ---[ end trace 0000000000000000 ]---',
      ...PANIC,
    );
    expect(judge(resets(guest)).account).toContain(
      'BUG: unable to handle kernel NULL pointer dereference in broken_ioctl',
    );
  });

  it('of an earlier boot does not decide when the last boot powered off', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .event(11_000, 'RESET', { guest: true, reason: 'guest-reset' })
      .serial(...BOOT_LINES, ...SYSTEMD_STOPS, POWER_DOWN);
    expect(judge(powersOff(guest))).toMatchObject({ class: 'clean_poweroff', boots: 2 });
  });

  it('of an earlier boot does not decide when the host ended a later one', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .event(11_000, 'RESET', { guest: true, reason: 'guest-reset' })
      .serial(...BOOT_LINES)
      .ping(16_000, true)
      .action(30_000, 'destroy')
      .exit(30_100, null, 'SIGKILL');
    expect(judge(guest)).toMatchObject({ class: 'host_killed', boots: 2 });
  });

  it('decides although the machine came up again', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .event(11_000, 'RESET', { guest: true, reason: 'guest-reset' })
      .serial(...BOOT_LINES)
      .serialProbe(15_000)
      .ping(16_000, true);
    expect(judge(guest)).toMatchObject({ class: 'panicked', ended: false, boots: 2 });
  });

  it('is not believed when the agent answers after it in the same boot', () => {
    const guest = bootedGuest()
      .serial(...PANIC)
      .serialProbe(11_000)
      .ping(12_000, true);
    const verdict = judge(guest);
    expect(verdict.class).toBe('still_running');
    expect(verdict.warnings).toContain('the console says that the kernel stopped, but the agent answered after that');
  });
});
