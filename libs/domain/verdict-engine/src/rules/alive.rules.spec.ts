import { judge } from '../testing/built-endings';
import { BOOT_LINES, bootedGuest, EvidenceBuilder } from '../testing/evidence-builder';

describe('a living machine', () => {
  it('hangs when neither the agent nor the console says anything', () => {
    const guest = bootedGuest().serialProbe(8000).ping(9000, false).probe(9100, { kind: 'status', status: 'running' });
    expect(judge(guest)).toMatchObject({ class: 'hung', confidence: 'likely', ended: false });
  });

  it('has lost its agent when the console goes on', () => {
    const guest = bootedGuest().serialProbe(8000).ping(9000, false).serial('[   12.000000] random: crng reseeded');
    expect(judge(guest).class).toBe('agent_lost');
  });

  it("has lost its agent when the agent's port was closed by the guest", () => {
    const guest = bootedGuest().event(8000, 'VSERPORT_CHANGE', { open: false, id: 'inquest.mux' });
    expect(judge(guest.ping(10_000, false))).toMatchObject({ class: 'agent_lost', confidence: 'certain' });
  });

  it('has not lost its agent when another port was closed', () => {
    const guest = bootedGuest().event(8000, 'VSERPORT_CHANGE', { open: false, id: 'shell' }).ping(10_000, true);
    expect(judge(guest).class).toBe('still_running');
  });

  it('hangs when its kernel reports a lockup, although that makes the console grow', () => {
    const guest = bootedGuest()
      .serialProbe(8000)
      .ping(9000, false)
      .serial(
        '[   40.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [sh:95]',
        '[   40.000100] RIP: 0010:spin_forever+0x2/0x10',
      );
    const verdict = judge(guest);
    expect(verdict.class).toBe('hung');
    expect(verdict.account).toContain('soft lockup in spin_forever');
  });

  it('is not hung while the host holds it', () => {
    const guest = bootedGuest().action(5000, 'pause').event(5001, 'STOP').ping(9000, false);
    expect(judge(guest)).toMatchObject({ class: 'still_running', rule: 'stopped_by_host' });
  });

  it('is not hung because of a ping sent while the host held it', () => {
    const guest = bootedGuest().event(5001, 'STOP').ping(9000, false).event(9500, 'RESUME');
    expect(judge(guest).class).toBe('still_running');
  });

  it('is suspended when the guest put itself to sleep', () => {
    expect(judge(bootedGuest().event(5000, 'SUSPEND').ping(9000, false)).class).toBe('suspended');
    expect(judge(bootedGuest().event(5000, 'SUSPEND').event(6000, 'WAKEUP').ping(9000, true)).class).toBe(
      'still_running',
    );
  });

  it('halted when its kernel said so, with no event at all', () => {
    const guest = bootedGuest().serial('[   20.600000] reboot: System halted').ping(25_000, false);
    expect(judge(guest)).toMatchObject({ class: 'halted', ended: true });
  });

  it('never booted when neither a kernel nor an agent ever spoke', () => {
    const guest = new EvidenceBuilder()
      .event(50, 'RESUME')
      .serial('SeaBIOS (version 1.16.2)', 'No bootable device.')
      .ping(9000, false);
    expect(judge(guest)).toMatchObject({ class: 'never_booted', boots: 0 });
  });

  it('is in a reset loop from the third boot of its own on', () => {
    const guest = bootedGuest();
    for (const atMs of [5000, 10_000]) {
      guest.event(atMs, 'RESET', { guest: true, reason: 'guest-reset' });
      guest.event(atMs + 140, 'RESET', { guest: true, reason: 'guest-reset' });
      guest.serial(...BOOT_LINES);
    }
    expect(judge(guest)).toMatchObject({ class: 'reset_loop', boots: 3, ended: false });
  });

  it('is not in a reset loop when the host reset it', () => {
    const guest = bootedGuest();
    for (const atMs of [5000, 10_000, 15_000]) {
      guest.event(atMs, 'RESET', { guest: false, reason: 'host-qmp-system-reset' }).serial(...BOOT_LINES);
    }
    expect(judge(guest)).toMatchObject({ class: 'still_running', boots: 4 });
  });
});
