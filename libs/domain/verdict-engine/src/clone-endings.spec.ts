import { drawVerdict } from './draw-verdict';
import { decodeMeta, encodeMeta } from './evidence-codec';
import { EvidenceBuilder } from './testing/evidence-builder';
import type { Verdict } from './verdict';

/** A clone that answered at once. Its kernel has run since before it existed, and prints nothing of its own accord. */
const clone = (): EvidenceBuilder =>
  new EvidenceBuilder()
    .withMeta({ origin: 'clone' })
    .event(40, 'MIGRATION', { status: 'setup' })
    .event(50, 'MIGRATION', { status: 'completed' })
    .event(51, 'RESUME')
    .event(52, 'VSERPORT_CHANGE', { open: true, id: 'inquest.mux' })
    .ping(200, true);

const POWER_DOWN = '[   31.671107] reboot: Power down';
const RESTARTS = '[   31.671107] reboot: Restarting system';
const BANNER = '[    0.000000] Linux version 6.1.0-57-amd64 (debian-kernel@lists.debian.org) #1 SMP';
const shutdown = (builder: EvidenceBuilder, reason: string): EvidenceBuilder =>
  builder.event(9_000, 'SHUTDOWN', { guest: true, reason }).exit(9_050, 0);
const judge = (builder: EvidenceBuilder): Verdict => drawVerdict(builder.build());

describe('the ending of a clone', () => {
  it('is a clean power off with the witness of its agent, although no kernel started on its console', () => {
    const guest = clone().probe(8_000, { kind: 'agent', initStopping: true, rootReadonly: false }).serial(POWER_DOWN);
    expect(judge(shutdown(guest, 'guest-shutdown'))).toMatchObject({
      class: 'clean_poweroff',
      confidence: 'certain',
      boots: 1,
      warnings: [],
    });
  });

  it.each([
    ['forced_poweroff', 'guest-shutdown', [POWER_DOWN]],
    ['dirty_poweroff', 'guest-shutdown', []],
    ['guest_reset', 'guest-reset', [RESTARTS]],
    ['panicked', 'guest-reset', ['[   31.000000] Kernel panic - not syncing: Fatal exception']],
  ])('is told apart: %s', (expected, reason, lines) => {
    expect(judge(shutdown(clone().serial(...lines), reason)).class).toBe(expected);
  });

  it('is the host when the host killed it, without a word about an empty console', () => {
    const killed = clone().action(9_000, 'destroy').exit(9_050, null, 'SIGKILL');
    expect(judge(killed)).toMatchObject({ class: 'host_killed', warnings: [] });
  });

  it('counts a boot that happened in it', () => {
    const guest = clone().serial('[   31.000000] something', BANNER, '[    2.000000] something else');
    expect(judge(guest).boots).toBe(2);
  });

  it('is no boot that failed when it never came to life', () => {
    const silent = new EvidenceBuilder().withMeta({ origin: 'clone' }).event(51, 'RESUME').ping(5_000, false);
    expect(judge(silent)).toMatchObject({ class: 'never_booted', account: expect.stringMatching(/clone/) });
  });

  it('keeps its origin in the bundle; a bundle without one is of a machine that booted', () => {
    const { meta } = clone().build();
    expect(decodeMeta(Buffer.from(encodeMeta(meta)))).toEqual(meta);
    const { origin: _origin, ...booted } = meta;
    expect(decodeMeta(Buffer.from(encodeMeta(booted)))).toEqual(booted);
    const forged = encodeMeta({ ...meta, origin: 'egg' as 'clone' });
    expect(() => decodeMeta(Buffer.from(forged))).toThrow(expect.objectContaining({ code: 'EVIDENCE_META_INVALID' }));
  });
});
