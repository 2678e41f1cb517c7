import type { PeerView } from '@inquest/contracts-vm';
import { peerAddress, type VmNetwork } from '@inquest/vm-driver';

/** A machine's place in a group that is wired together, as its row keeps it. */
export interface MachinePeer {
  /** What people call the group. */
  readonly group: string;
  /** Names the directory of the group's network: a name of people may come again. */
  readonly groupId: string;
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** The machine that all others of a group are wired to. */
const CENTRE = 1;

/** A star: no frame has two ways, and each machine but the first can be reset without parting the others. */
export const neighboursOf = ({ index, count }: MachinePeer): number[] =>
  index === CENTRE ? Array.from({ length: count - 1 }, (_, at) => CENTRE + 1 + at) : [CENTRE];

/** Its network as the driver is told. */
export const networkOf = (peer: MachinePeer, directory: string): VmNetwork => ({
  directory,
  index: peer.index,
  neighbours: neighboursOf(peer),
});

/** As its readers see it. */
export const peerView = ({ group, index }: MachinePeer): PeerView => ({ group, index, address: peerAddress(index) });
