import { judge, PANIC, POWER_DOWN, SYSTEMD_STOPS } from '../testing/built-endings';
import { BOOT_LINES, bootedGuest, EvidenceBuilder } from '../testing/evidence-builder';

describe('Firecracker', () => {
  const microvm = (): EvidenceBuilder =>
    new EvidenceBuilder()
      .withMeta({ driver: 'firecracker' })
      .serial(...BOOT_LINES)
      .serialProbe(2950)
      .ping(3000, true);

  it('stays alive after a power-off, and the console decides', () => {
    const verdict = judge(
      microvm()
        .serial(...SYSTEMD_STOPS, POWER_DOWN)
        .ping(25_000, false),
    );
    expect(verdict).toMatchObject({ class: 'clean_poweroff', confidence: 'likely', ended: true });
  });

  it('ends with status 0 at a reboot', () => {
    const guest = microvm().serial('[   20.600000] reboot: Restarting system').exit(20_650, 0);
    expect(judge(guest)).toMatchObject({ class: 'guest_reset', confidence: 'likely', ended: true });
  });

  it('gives a panic away on the console only', () => {
    expect(
      judge(
        microvm()
          .serial(...PANIC)
          .exit(11_000, 0),
      ).class,
    ).toBe('panicked');
  });

  it('proves nothing by a status of 0', () => {
    expect(judge(microvm().exit(11_000, 0)).class).toBe('unknown');
  });

  it('was killed by the host', () => {
    expect(judge(microvm().action(9000, 'destroy').exit(9100, null, 'SIGKILL')).class).toBe('host_killed');
  });

  describe('without power management, where a kernel that shall power off halts', () => {
    const HALTED = '[   20.671107] reboot: System halted';
    const UNAVAILABLE = '[   20.671107] reboot: Power off not available: System halted instead';
    const busybox = (order: string) => ['The system is going down NOW!', `Requesting system ${order}`];
    const stops = (builder: EvidenceBuilder) =>
      builder.probe(18_000, { kind: 'agent', initStopping: true, rootReadonly: false });

    it.each([
      ["in init's words", microvm().serial(...SYSTEMD_STOPS, HALTED)],
      ["in busybox's words", microvm().serial(...busybox('poweroff'), HALTED)],
      ['in the words of the kernel', stops(microvm()).serial(UNAVAILABLE)],
      [
        "by the host's record that it asked",
        stops(microvm().action(17_000, 'shutdown', 'gateway', 'poweroff')).serial(HALTED),
      ],
    ])('a power-off is told %s, and clean with the witness of init', (_, guest) => {
      const verdict = judge(guest.ping(25_000, false));
      expect(verdict).toMatchObject({ class: 'clean_poweroff', confidence: 'likely', ended: true, blame: 'none' });
      expect(verdict.deciding.map(({ quote }) => quote)).toContainEqual(expect.stringContaining('halted'));
    });

    it('a power-off that nobody saw init take part in is forced', () => {
      const guest = microvm().serial(UNAVAILABLE).ping(25_000, false);
      expect(judge(guest)).toMatchObject({ class: 'forced_poweroff', confidence: 'likely', blame: 'guest' });
    });

    it('an orderly stop of which nobody says what it was to be is as good as a power-off, weakly', () => {
      const verdict = judge(stops(microvm()).serial(HALTED).ping(25_000, false));
      expect(verdict).toMatchObject({ class: 'clean_poweroff', confidence: 'weak', ended: true });
      expect(verdict.account).toContain('without power management');
    });

    it.each([
      ['init said so', stops(microvm()).serial(...busybox('halt'), HALTED)],
      [
        'init said so, whatever the host had asked for',
        microvm()
          .action(9000, 'shutdown', 'gateway', 'poweroff')
          .serial(...busybox('halt'), HALTED),
      ],
      ['nothing witnessed init, and nobody asked', microvm().serial(HALTED)],
      [
        'nothing witnessed init, although the host had asked',
        microvm().action(9000, 'shutdown', 'gateway', 'poweroff').serial(HALTED),
      ],
      ['a reboot was asked for', microvm().action(9000, 'shutdown', 'gateway', 'reboot').serial(HALTED)],
    ])('a halt is a halt where %s', (_, guest) => {
      expect(judge(guest.ping(25_000, false))).toMatchObject({ class: 'halted', confidence: 'likely', ended: true });
    });

    it('words that the agent outlived prove nothing', () => {
      const guest = stops(microvm()).serial(UNAVAILABLE).serialProbe(20_000).ping(21_000, true);
      expect(judge(guest)).toMatchObject({ class: 'still_running' });
    });

    it('is no excuse under QEMU, which has power management', () => {
      const guest = stops(bootedGuest())
        .serial(...SYSTEMD_STOPS, UNAVAILABLE)
        .ping(25_000, false);
      expect(judge(guest)).toMatchObject({ class: 'halted' });
    });
  });
});
