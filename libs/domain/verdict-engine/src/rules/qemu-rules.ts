import {
  agentLost,
  guestSuspended,
  hung,
  hungByLockup,
  stillRunning,
  stoppedByHost,
  vmmFrozen,
  vmmInternalError,
} from './alive.rules';
import {
  endedByRecordedAction,
  hostErrorShutdown,
  hostShutDown,
  killedByHostOom,
  killedByStranger,
  vmmCrashed,
} from './host.rules';
import { panicOnConsole, panicSeenByVmm } from './panic.rules';
import { guestPoweredOff, haltedOnConsole, powerDownOnConsole } from './poweroff.rules';
import { guestResetEnded, guestResetLived, restartOnConsole } from './reset.rules';
import type { Rule } from './rule';
import { nothingEverSpoke, vmmRefusedToStart } from './start.rules';
import { stoppedByStorage, storageErrorReported } from './storage.rules';
import { unrecognisedReason } from './unknown.rules';
import { watchdogFired, watchdogStatus } from './watchdog.rules';

/**
 * For machines that QEMU ran. Order: what ends the guest itself comes before what merely ends the VMM, for a machine that
 * panicked, powered off or halted is beyond being killed; within that, causes come before their consequences.
 */
export const QEMU_RULES: readonly Rule[] = [
  vmmRefusedToStart,

  // A panic beats the reset, power-off or watchdog that follows it.
  panicSeenByVmm,
  panicOnConsole,
  watchdogFired,
  watchdogStatus,
  stoppedByStorage,

  // The last SHUTDOWN and its reason.
  hostShutDown,
  hostErrorShutdown,
  guestPoweredOff,
  guestResetEnded,
  unrecognisedReason,

  // A halt gives no event.
  haltedOnConsole,

  // QEMU's own state tells apart what an agent's silence cannot.
  vmmFrozen,
  vmmInternalError,
  guestSuspended,
  stoppedByHost,
  nothingEverSpoke,

  // The VMM is gone and no event says why; a kill by the host beats the silence before it.
  killedByHostOom,
  endedByRecordedAction,
  killedByStranger,
  vmmCrashed,

  // Events are missing: the kernel's last words.
  powerDownOnConsole,
  restartOnConsole,

  // The VMM lives.
  storageErrorReported,
  guestResetLived,
  hungByLockup,
  agentLost,
  hung,
  stillRunning,
];
