import type { Verdict, VerdictClass } from './verdict';

/**
 * Exit status of `vmctl run` for an ending that the caller did not ask for. 83 to 89 lie above those of sysexits.h (64 to
 * 78) and below those that shells give (126 and up).
 */
export const VERDICT_EXIT_STATUS: Readonly<Record<VerdictClass, number>> = {
  // A clean power-off is a wrong ending, too, for a caller who expected another.
  clean_poweroff: 83,
  forced_poweroff: 83,
  dirty_poweroff: 83,
  halted: 83,
  guest_reset: 84,
  reset_loop: 84,
  panicked: 85,
  watchdog_fired: 85,
  host_killed: 86,
  vmm_crashed: 86,
  io_error: 86,
  host_error: 86,
  never_booted: 86,
  hung: 87,
  agent_lost: 87,
  still_running: 87,
  suspended: 88,
  unknown: 89,
};

/**
 * Exit status that `vmctl` gives for a verdict: 0 when it is the `expected` ending, else the one of its class. `unknown`
 * never passes, not even when it was expected.
 */
export function exitStatusFor(verdict: Pick<Verdict, 'class'>, expected: VerdictClass = 'clean_poweroff'): number {
  const passed = verdict.class === expected && verdict.class !== 'unknown';
  return passed ? 0 : VERDICT_EXIT_STATUS[verdict.class];
}
