import type { MachineView } from '@inquest/contracts-vm';
import { peerView } from '../peers/machine-peer';
import { shareViews, type MachineShare } from '../shares/machine-share';
import type { MachineEntity } from './machine.entity';

/** What only the process that runs a machine knows of it. */
export interface SeenMachine {
  /** When the guest agent last answered; null before the first answer. */
  readonly lastSeenAtMs: number | null;
  /** What the running incarnation was given. */
  readonly shares: readonly MachineShare[];
}

/** The row as its readers see it; `seen` is null for a machine that does not run here. */
export const machineView = (row: MachineEntity, seen: SeenMachine | null): MachineView => ({
  machineId: row.machineId,
  name: row.name,
  node: row.node,
  image: row.image,
  version: row.imageVersion,
  state: row.state,
  reason: row.reason,
  message: row.message,
  incarnation: row.incarnation,
  cpus: row.cpus,
  memoryMib: row.memoryMib,
  accelerator: row.accelerator,
  hasScreen: row.hasScreen,
  rtcBaseMs: row.rtcBase?.getTime() ?? null,
  origin: row.origin,
  owner: row.owner,
  createdAtMs: row.createdAt.getTime(),
  readyAtMs: row.readyAt?.getTime() ?? null,
  endedAtMs: row.endedAt?.getTime() ?? null,
  lastSeenAtMs: seen?.lastSeenAtMs ?? null,
  verdict: row.verdict,
  egress: { isUp: row.isEgressUp, allowedHosts: row.allowedHosts, hasLocalModel: row.hasLocalModel },
  shares: shareViews(row.shares, seen?.shares ?? []),
  peer: row.peer === null ? null : peerView(row.peer),
  isRemoved: row.isRemoved,
});

/** Text of a machine in a listing; `show` gives all of it. */
const LISTED_MESSAGE_CHARS = 512;

/** As a listing shows it: without quotes and shares, so that the answer of a node with 500 machines fits into one NATS message. */
export const listedView = (view: MachineView): MachineView => ({
  ...view,
  message: view.message.slice(0, LISTED_MESSAGE_CHARS),
  shares: [],
  verdict: view.verdict === null ? null : { ...view.verdict, deciding: [], contributing: [] },
});
