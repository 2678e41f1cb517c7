import { judge, POWER_DOWN, powersOff, SYSTEMD_STOPS } from '../testing/built-endings';
import { BOOT_LINES, bootedGuest } from '../testing/evidence-builder';

describe('power off', () => {
  it('is clean when the event, the kernel and a witness of init agree', () => {
    const verdict = judge(powersOff(bootedGuest().serial(...SYSTEMD_STOPS, POWER_DOWN)));
    expect(verdict).toMatchObject({ class: 'clean_poweroff', confidence: 'likely', ended: true, blame: 'none' });
    expect(verdict.deciding.map(({ file }) => file)).toEqual(['events.jsonl', 'serial.log', 'serial.log']);
  });

  it("is certain when the agent's word is the witness", () => {
    const guest = bootedGuest().serial(POWER_DOWN);
    guest.probe(18_000, { kind: 'agent', initStopping: true, rootReadonly: false });
    expect(judge(powersOff(guest))).toMatchObject({ class: 'clean_poweroff', confidence: 'certain' });
  });

  it('is clean when the agent saw the root file system become read-only', () => {
    const guest = bootedGuest().serial(POWER_DOWN);
    guest.probe(4000, { kind: 'agent', initStopping: false, rootReadonly: false });
    guest.probe(20_000, { kind: 'agent', initStopping: false, rootReadonly: true });
    expect(judge(powersOff(guest)).class).toBe('clean_poweroff');
  });

  it('is not witnessed by a root file system that was read-only all along', () => {
    const guest = bootedGuest().serial(POWER_DOWN);
    guest.probe(4000, { kind: 'agent', initStopping: false, rootReadonly: true });
    guest.probe(20_000, { kind: 'agent', initStopping: false, rootReadonly: true });
    expect(judge(powersOff(guest)).class).toBe('forced_poweroff');
  });

  it('is forced when nothing witnessed init', () => {
    expect(judge(powersOff(bootedGuest().serial(POWER_DOWN)))).toMatchObject({
      class: 'forced_poweroff',
      blame: 'guest',
    });
  });

  it('is dirty when the kernel never said that it powered down', () => {
    expect(judge(powersOff(bootedGuest().serial(...SYSTEMD_STOPS))).class).toBe('dirty_poweroff');
  });

  it('is not proved by a POWERDOWN event', () => {
    const verdict = judge(bootedGuest().event(5000, 'POWERDOWN').ping(9000, true));
    expect(verdict).toMatchObject({ class: 'still_running', ended: false });
  });

  it('is not proved by an exit status of 0', () => {
    expect(judge(bootedGuest().exit(20_000, 0))).toMatchObject({ class: 'unknown', confidence: 'weak', ended: true });
  });

  it('counts only what the last boot said', () => {
    const guest = bootedGuest()
      .serial(...SYSTEMD_STOPS, '[   20.600000] reboot: Restarting system')
      .event(20_650, 'RESET', { guest: true, reason: 'guest-reset' })
      .serial(...BOOT_LINES, '[    9.000000] reboot: Power down');
    const verdict = judge(guest.event(30_000, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' }).exit(30_050, 0));
    expect(verdict).toMatchObject({ class: 'forced_poweroff', boots: 2 });
  });

  it('is not taken from a program that prints the words of a kernel that stamps its own', () => {
    expect(judge(powersOff(bootedGuest().serial(...SYSTEMD_STOPS, 'reboot: Power down'))).class).toBe('dirty_poweroff');
  });

  it('is not taken from words that the agent outlived', () => {
    const guest = bootedGuest()
      .serial(...SYSTEMD_STOPS, '[    9.000000] reboot: Power down')
      .serialProbe(9500)
      .ping(9600, true);
    expect(judge(powersOff(guest)).class).toBe('dirty_poweroff');
  });

  it('is found behind a prompt, escape sequences and carriage returns', () => {
    const line = 'debian login: \x1b[0m[   20.671107] \x1b[1mreboot: Po\rwer down\x1b[0m';
    expect(judge(powersOff(bootedGuest().serial(...SYSTEMD_STOPS, line))).class).toBe('clean_poweroff');
  });
});
