import { drawVerdict } from './draw-verdict';
import { BOOT_LINES, bootedGuest, EvidenceBuilder } from './testing/evidence-builder';
import type { Verdict } from './verdict';

const judge = (builder: EvidenceBuilder): Verdict => drawVerdict(builder.build());

const SYSTEMD_STOPS = [
  '[   20.100000] systemd-shutdown[1]: Syncing filesystems and block devices.',
  '[   20.200000] systemd-shutdown[1]: All filesystems unmounted.',
  '[   20.300000] systemd-shutdown[1]: Powering off.',
];
const POWER_DOWN = '[   20.671107] reboot: Power down';
const PANIC = [
  '[   10.000000] Kernel panic - not syncing: Fatal exception',
  '[   10.100000] ---[ end Kernel panic - not syncing: Fatal exception ]---',
];

const powersOff = (builder: EvidenceBuilder): EvidenceBuilder =>
  builder.event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' }).exit(20_750, 0);
const resets = (builder: EvidenceBuilder): EvidenceBuilder =>
  builder.event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-reset' }).exit(20_750, 0);

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

describe('the host', () => {
  it.each(['kill', 'destroy', 'reap', 'quit', 'reset'] as const)('is named when it recorded a %s', (action) => {
    const guest = bootedGuest().action(9000, action, 'operator anna', 'no longer needed').exit(9100, null, 'SIGKILL');
    const verdict = judge(guest);
    expect(verdict).toMatchObject({ class: 'host_killed', confidence: 'certain', ended: true });
    expect(verdict.account).toContain(`${action} by operator anna, no longer needed`);
  });

  it('beats the silence before its kill', () => {
    const guest = bootedGuest().ping(7000, false).action(9000, 'destroy').exit(9100, null, 'SIGKILL');
    expect(judge(guest).class).toBe('host_killed');
  });

  it('did not do what happened long after its action', () => {
    const guest = bootedGuest().action(5000, 'reset').exit(59_000, null, 'SIGKILL');
    expect(judge(guest)).toMatchObject({ class: 'host_killed', confidence: 'likely', blame: 'host' });
  });

  it('is blamed for its out-of-memory killer only when the counter tells', () => {
    const guest = bootedGuest().exit(9100, null, 'SIGKILL');
    expect(judge(guest)).toMatchObject({ class: 'host_killed', rule: 'killed_by_stranger' });
    guest.probe(9200, { kind: 'host', fact: 'oom_kill', detail: 'memory.events oom_kill 1' });
    expect(judge(guest)).toMatchObject({ class: 'host_error', confidence: 'certain' });
  });

  it('is told by the reason of the SHUTDOWN event', () => {
    const guest = bootedGuest().event(9000, 'SHUTDOWN', { guest: false, reason: 'host-qmp-quit' }).exit(9010, 0);
    expect(judge(guest)).toMatchObject({ class: 'host_killed', confidence: 'certain' });
  });

  it('is not what a guest claims to be', () => {
    const guest = bootedGuest().event(9000, 'SHUTDOWN', { guest: true, reason: 'host-signal' }).exit(9010, 0);
    expect(judge(guest).class).toBe('unknown');
  });

  it.each(['SIGSEGV', 'SIGABRT', 'SIGSYS'])('lost its VMM to %s', (signal) => {
    const guest = bootedGuest().action(9000, 'destroy').exit(9010, null, signal);
    expect(judge(guest)).toMatchObject({ class: 'vmm_crashed', confidence: 'certain', blame: 'host' });
  });

  it('ran out of disk space', () => {
    const guest = bootedGuest()
      .event(9000, 'BLOCK_IO_ERROR', { action: 'stop', nospace: true, reason: 'No space left on device' })
      .event(9001, 'STOP')
      .ping(12_000, false)
      .probe(12_000, { kind: 'status', status: 'io-error' });
    expect(judge(guest)).toMatchObject({ class: 'io_error', blame: 'host', ended: false });
  });

  it('is not judged by an empty drive', () => {
    const guest = bootedGuest().event(9000, 'BLOCK_IO_ERROR', { action: 'report', reason: 'No medium found' });
    expect(judge(guest.ping(10_000, true)).class).toBe('still_running');
  });

  it('has a frozen VMM when QMP does not answer', () => {
    const guest = bootedGuest().ping(9000, false).probe(9500, { kind: 'status', status: null });
    expect(judge(guest)).toMatchObject({ class: 'host_error', blame: 'host' });
  });
});

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
});
