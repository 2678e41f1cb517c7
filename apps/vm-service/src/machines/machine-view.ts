import type { MachineView } from '@inquest/contracts-vm';
import type { MachineEntity } from './machine.entity';

/** The row as its readers see it. `lastSeenAtMs` is known only to the process that talks to the guest. */
export const machineView = (row: MachineEntity, lastSeenAtMs: number | null): MachineView => ({
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
  origin: row.origin,
  owner: row.owner,
  createdAtMs: row.createdAt.getTime(),
  readyAtMs: row.readyAt?.getTime() ?? null,
  endedAtMs: row.endedAt?.getTime() ?? null,
  lastSeenAtMs,
  verdict: row.verdict,
  egress: { isUp: row.isEgressUp, allowedHosts: row.allowedHosts, hasLocalModel: row.hasLocalModel },
  isRemoved: row.isRemoved,
});

/** Text of a machine in a listing; `show` gives all of it. */
const LISTED_MESSAGE_CHARS = 512;

/** As a listing shows it: without quotes, so that the answer of a node with 500 machines fits into one NATS message. */
export const listedView = (view: MachineView): MachineView => ({
  ...view,
  message: view.message.slice(0, LISTED_MESSAGE_CHARS),
  verdict: view.verdict === null ? null : { ...view.verdict, deciding: [], contributing: [] },
});
