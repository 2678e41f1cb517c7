import { judge, POWER_DOWN, powersOff, SYSTEMD_STOPS } from './testing/built-endings';
import { bootedGuest, EvidenceBuilder } from './testing/evidence-builder';

describe('evidence', () => {
  it('of an unknown shutdown reason is never a pass', () => {
    const guest = bootedGuest()
      .serial(...SYSTEMD_STOPS, POWER_DOWN)
      .event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-vanished' });
    expect(judge(guest.exit(20_750, 0))).toMatchObject({ class: 'unknown', confidence: 'weak' });
  });

  it('of another incarnation is ignored, counted and lowers the confidence', () => {
    const guest = bootedGuest().event(-5000, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' }).ping(9000, true);
    const verdict = judge(guest);
    expect(verdict).toMatchObject({ class: 'still_running', confidence: 'likely' });
    expect(verdict.warnings).toContain('events.jsonl: 1 event(s) older than this incarnation ignored');
  });

  it('that is malformed or cut off is skipped, counted and lowers the confidence', () => {
    const guest = bootedGuest()
      .eventLine('{"event":"SHUT')
      .eventLine('[1,2]')
      .eventLine('{"event":7}')
      .ping(9000, true);
    const verdict = judge(guest);
    expect(verdict).toMatchObject({ class: 'still_running', confidence: 'likely' });
    expect(verdict.warnings).toContain('events.jsonl: 3 malformed or truncated line(s) skipped');
  });

  it('missing from the console is said and lowers the confidence', () => {
    const guest = powersOff(bootedGuest().serialAfterGap(5000, ...SYSTEMD_STOPS, POWER_DOWN));
    const verdict = judge(guest);
    expect(verdict).toMatchObject({ class: 'clean_poweroff', confidence: 'weak' });
    expect(verdict.deciding.map(({ file }) => file)).toContain('serial.tail.log');
    expect(verdict.warnings).toContain('the console log was cut: 5000 bytes between head and tail are missing');
  });

  it('recorded with an interruption is said and lowers the confidence', () => {
    const guest = bootedGuest().withMeta({
      recorder: { attachedBeforeBoot: false, lost: true, note: 'service restarted' },
    });
    const verdict = judge(guest.ping(9000, true));
    expect(verdict.confidence).toBe('likely');
    expect(verdict.warnings).toContain('the recording was interrupted: service restarted');
  });

  it('whose events are lost leaves the last words of the kernel, weakly', () => {
    const guest = bootedGuest()
      .serial(...SYSTEMD_STOPS, POWER_DOWN)
      .exit(20_750, 0);
    expect(judge(guest)).toMatchObject({ class: 'forced_poweroff', confidence: 'weak' });
  });

  it('of a VMM that refused to start shows what it said', () => {
    const machine = new EvidenceBuilder().exit(
      30,
      1,
      null,
      'qemu: Failed to get "write" lock\nIs another process using it?\n',
    );
    const verdict = judge(machine);
    expect(verdict).toMatchObject({ class: 'never_booted', confidence: 'certain', blame: 'host' });
    expect(verdict.account).toContain('Failed to get "write" lock');
  });
});
