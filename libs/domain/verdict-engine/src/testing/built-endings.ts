import { drawVerdict } from '../draw-verdict';
import type { Verdict } from '../verdict';
import type { EvidenceBuilder } from './evidence-builder';

/** The verdict of what was built. */
export const judge = (builder: EvidenceBuilder): Verdict => drawVerdict(builder.build());

/** What systemd-shutdown says on the console. */
export const SYSTEMD_STOPS: readonly string[] = [
  '[   20.100000] systemd-shutdown[1]: Syncing filesystems and block devices.',
  '[   20.200000] systemd-shutdown[1]: All filesystems unmounted.',
  '[   20.300000] systemd-shutdown[1]: Powering off.',
];
export const POWER_DOWN = '[   20.671107] reboot: Power down';
export const PANIC: readonly string[] = [
  '[   10.000000] Kernel panic - not syncing: Fatal exception',
  '[   10.100000] ---[ end Kernel panic - not syncing: Fatal exception ]---',
];

/** QEMU saw the guest switch its power off, and ended. */
export const powersOff = (builder: EvidenceBuilder): EvidenceBuilder =>
  builder.event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' }).exit(20_750, 0);
/** QEMU saw the guest reset itself, and ended. */
export const resets = (builder: EvidenceBuilder): EvidenceBuilder =>
  builder.event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-reset' }).exit(20_750, 0);
