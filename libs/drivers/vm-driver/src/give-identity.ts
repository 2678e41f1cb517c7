import { randomBytes } from 'node:crypto';
import { GuestAgentClient, type CallOptions, type GuestLink } from '@inquest/guest-link';
import type { VmSpec } from './vm-specification';

/** Twice the kernel's own seed, so that a guest without any source of its own has enough. */
const ENTROPY_BYTES = 64;
/** machine-id(5): 128 random bits. */
const MACHINE_ID_BYTES = 16;

/**
 * Makes the guest of a clone a machine of its own, and proves with a fresh nonce that it answers. Waits for the guest
 * until `options` end the wait. Rejects with what `GuestAgentClient.rebirth` rejects with; such a clone must not be used.
 */
export async function giveIdentity(
  link: GuestLink,
  { hostname, rtcBaseMs }: Pick<VmSpec, 'hostname' | 'rtcBaseMs'>,
  options: CallOptions,
): Promise<void> {
  const identity = {
    nowMs: () => rtcBaseMs ?? Date.now(),
    hostname,
    machineId: randomBytes(MACHINE_ID_BYTES).toString('hex'),
    entropy: randomBytes(ENTROPY_BYTES).toString('hex'),
  };
  await new GuestAgentClient(link).rebirth(identity, options);
}
