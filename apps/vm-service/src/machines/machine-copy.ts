import { vmError } from '@inquest/contracts-vm';
import type { MachineId } from '@inquest/kernel';
import { supportsCopies, type VmDriver } from '@inquest/vm-driver';
import type { MachineEntity } from './machine.entity';

/** The row of a copy: what its source is, under an id and a name of its own. Nobody owns it. */
export const copyOf = (source: MachineEntity, machineId: MachineId, name: string | null): MachineEntity => ({
  ...source,
  machineId,
  name,
  requestId: null,
  owner: null,
  state: 'requested',
  reason: 'cloned',
  message: `accepted as a copy of ${source.machineId}`,
  incarnation: 1,
  origin: null,
  isEgressUp: false,
  verdict: null,
  isRemoved: false,
  createdAt: new Date(),
  readyAt: null,
  endedAt: null,
});

/** Throws `MACHINE_UNCLONABLE`, saying why there cannot be two of the machine. */
export function requireClonable(row: MachineEntity, driver: VmDriver): void {
  const why = whyUnclonable(row, driver);
  if (why === null) return;
  throw vmError('MACHINE_UNCLONABLE', `machine ${row.machineId} cannot be copied: ${why}`, { machine: row.machineId });
}

function whyUnclonable({ peer, shares, purpose }: MachineEntity, driver: VmDriver): string | null {
  if (!supportsCopies(driver)) return `the ${driver.name} driver copies no machines`;
  if (peer !== null) return `it is wired to the group ${peer.group} under an address of its own`;
  if (shares.length > 0) return 'it was given directories of the host';
  return purpose === 'maintenance' ? 'it writes the working copy of its image' : null;
}
