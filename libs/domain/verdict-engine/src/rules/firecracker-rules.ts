import { markOfLastBoot, outlived, type CaseFacts } from '../facts/case-facts';
import { probesOf } from '../facts/host-facts';
import type { ConsoleMark } from '../facts/serial-facts';
import { agentLost, hung, hungByLockup, stillRunning } from './alive.rules';
import { endedByRecordedAction, killedByHostOom, killedByStranger, vmmCrashed } from './host.rules';
import { panicOnConsole } from './panic.rules';
import { cleanPoweroff, forcedPoweroff, haltedOnConsole, initWitness } from './poweroff.rules';
import { restartOnConsole } from './reset.rules';
import type { Rule } from './rule';
import { nothingEverSpoke, vmmRefusedToStart } from './start.rules';

/**
 * Firecracker has no events: on x86 a power-off leaves the VMM alive with its CPUs stopped, a reboot ends it with status 0.
 * The kernel's words decide, so nothing is ever certain.
 */
export const firecrackerPoweredOff: Rule = {
  name: 'firecracker_powered_off',
  find: (facts) => {
    const powerDown = markOfLastBoot(facts, 'power_down');
    if (powerDown === null || outlived(facts, powerDown)) return null;
    const witness = initWitness(facts);
    return witness === null ? forcedPoweroff(facts, powerDown) : cleanPoweroff(facts, powerDown, witness);
  },
};

/**
 * A kernel that is told to power off and finds no power management halts instead (`LINUX_REBOOT_CMD_POWER_OFF` in
 * kernel/reboot.c), and there is none in Firecracker on x86 (its FAQ: neither `poweroff` nor `halt` ends it). Newer
 * kernels say so; the words of older ones are those of a halt. Then init's words tell what was asked for, or the host's
 * own record that it asked. Where nobody tells, init's orderly stop is all that a power-off would have shown.
 */
export const firecrackerHaltedInstead: Rule = {
  name: 'firecracker_halted_instead',
  find: (facts) => {
    const halted = markOfLastBoot(facts, 'halted');
    if (halted === null || outlived(facts, halted)) return null;
    const witness = initWitness(facts);
    const order = orderOfGuest(facts, halted);
    if (order === 'halt') return null;
    if (witness === null) return order === 'poweroff' ? forcedPoweroff(facts, halted) : null;
    const clean = cleanPoweroff(facts, halted, witness);
    if (order === 'poweroff' || isPoweroffAskedFor(facts)) return clean;
    const account =
      'init stopped the system and the kernel halted; without power management that is how a power-off looks.';
    return { ...clean, confidence: 'weak', account };
  },
};

/** What the guest said it was told before it halted; null when it did not say. The kernel knows better than init. */
function orderOfGuest(facts: CaseFacts, halted: ConsoleMark): 'poweroff' | 'halt' | null {
  if (halted.text.includes('Power off not available')) return 'poweroff';
  const said = facts.serial.marks
    .filter(({ kind, boot }) => kind === 'init_stopping' && boot >= facts.serial.boots)
    .map(({ text }) => orderInWords(text));
  return said.findLast((order) => order !== null) ?? null;
}

/** The last stop that the host asked for, which init may or may not have heard. */
const isPoweroffAskedFor = ({ actions }: CaseFacts): boolean =>
  actions.records.findLast(({ action }) => action === 'shutdown')?.reason === 'poweroff';

/** busybox init, systemd and its targets. sysvinit says "Will now halt" of both, and the words before it of anything. */
function orderInWords(text: string): 'poweroff' | 'halt' | null {
  if (/^Requesting system poweroff|: Powering off\.$|Reached target .*Power[ -]?Off/i.test(text)) return 'poweroff';
  return /^Requesting system halt|: Halting system\.$|Reached target .*Halt/i.test(text) ? 'halt' : null;
}

/** The kernel said that it restarts, and the VMM ended as it does then. */
export const firecrackerReset: Rule = {
  name: 'firecracker_reset',
  find: (facts) => {
    const finding = restartOnConsole.find(facts);
    return finding !== null && facts.exit?.code === 0 ? { ...finding, confidence: 'likely' } : finding;
  },
};

/** Firecracker hands storage errors to the guest; the host knows that its disk was full. */
export const firecrackerDiskFull: Rule = {
  name: 'firecracker_disk_full',
  find: ({ probes, serial, exit }) => {
    const full = probesOf(probes, 'host').findLast((probe) => probe.fact === 'disk_full');
    const seen = serial.reports.find(({ class: c }) => c === 'block_error' || c === 'filesystem_error');
    if (full === undefined || seen === undefined) return null;
    return {
      class: 'io_error',
      confidence: 'likely',
      account: "The guest lost writes: the host's disk was full.",
      deciding: [full.citation, seen.citation],
      blame: 'host',
      ended: exit !== null,
      readsConsole: true,
    };
  },
};

/** For machines that Firecracker ran; the order follows the same principle as for QEMU. */
export const FIRECRACKER_RULES: readonly Rule[] = [
  vmmRefusedToStart,
  panicOnConsole,
  firecrackerPoweredOff,
  firecrackerHaltedInstead,
  haltedOnConsole,
  firecrackerReset,
  nothingEverSpoke,
  killedByHostOom,
  endedByRecordedAction,
  killedByStranger,
  vmmCrashed,
  firecrackerDiskFull,
  hungByLockup,
  agentLost,
  hung,
  stillRunning,
];
