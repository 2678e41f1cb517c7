import { neighboursOf } from '../peers/machine-peer';
import type { LiveMachine } from './live-machine';
import type { MachineEntity } from './machine.entity';

/**
 * Has the guest of a machine that answers use what the machine was given: shares are mounted, and the wires of a new
 * group are probed; later a machine of it may well come back alone. Rejects with `SHARE_NOT_MOUNTED`, `PEER_UNREACHABLE`
 * and what the guest agent rejects with; the machine is not ready then.
 */
export async function connectGuest(
  { peer, incarnation }: Pick<MachineEntity, 'peer' | 'incarnation'>,
  life: LiveMachine,
  signal: AbortSignal,
): Promise<void> {
  await life.mountShares(signal);
  if (peer !== null && incarnation === 1) await life.reachPeers(neighboursOf(peer), signal);
}
