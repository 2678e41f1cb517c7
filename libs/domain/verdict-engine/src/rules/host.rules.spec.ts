import { judge } from '../testing/built-endings';
import { bootedGuest } from '../testing/evidence-builder';

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
