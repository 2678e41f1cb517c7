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
  owner: row.owner,
  createdAtMs: row.createdAt.getTime(),
  readyAtMs: row.readyAt?.getTime() ?? null,
  endedAtMs: row.endedAt?.getTime() ?? null,
  lastSeenAtMs,
  verdict: row.verdict,
  isRemoved: row.isRemoved,
});
