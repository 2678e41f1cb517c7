import type { GuestAgentClient } from '@inquest/guest-link';
import { delay } from '@inquest/kernel';

/** Between two looks at the guest's processor. */
const WINDOW_MS = 500;
/** The look itself takes some of an emulated processor. */
const MAX_BUSY_SHARE = 0.25;
/** In a row, so that a pause between two steps of the boot is not taken for its end. */
const QUIET_WINDOWS = 2;

/**
 * Resolves when the guest has had nothing to do for a second: whatever its init is, the boot is over then. A template
 * of a guest that still boots would have each of its clones boot on. Rejects with what the agent rejects with, and with
 * `OPERATION_ABORTED`.
 */
export async function guestAtRest(agent: GuestAgentClient, signal: AbortSignal): Promise<void> {
  let before = await agent.metrics({ signal });
  for (let quiet = 0; quiet < QUIET_WINDOWS;) {
    await delay(WINDOW_MS, signal);
    const now = await agent.metrics({ signal });
    const ticks = now.cpuTotalTicks - before.cpuTotalTicks;
    const isQuiet = ticks > 0 && (now.cpuBusyTicks - before.cpuBusyTicks) / ticks <= MAX_BUSY_SHARE;
    quiet = isQuiet ? quiet + 1 : 0;
    before = now;
  }
}
