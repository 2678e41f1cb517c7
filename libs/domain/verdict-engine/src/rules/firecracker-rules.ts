import { markOfLastBoot, outlived } from '../facts/case-facts';
import { probesOf } from '../facts/host-facts';
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
