import type { VmDriver } from './vm-driver';
import type { VmHandle } from './vm-handle';
import type { VmSpec } from './vm-specification';

/** Which machine of an earlier process is taken over. */
export type VmAdoption = Pick<VmSpec, 'machineId' | 'incarnation' | 'directory' | 'listeners'>;

/** A driver whose machines survive the process that started them. */
export interface AdoptingDriver extends VmDriver {
  /**
   * Takes over a machine that an earlier process of this driver started and that still runs: from then on it is this
   * driver's, as if it had been started here. The evidence goes on where it was, with what happened meanwhile; the guest does not
   * notice, except that its streams ended with the earlier process. Rejects with `VM_INSTANCE_UNADOPTABLE`
   * (nothing was changed, the instance stays for `reapOrphans`), `VM_INSTANCE_EXISTS` when it is this driver's
   * already, or `OPERATION_ABORTED`.
   */
  adopt(machine: VmAdoption, signal: AbortSignal): Promise<VmHandle>;
}

export const supportsAdoption = (driver: VmDriver): driver is AdoptingDriver => driver.capabilities.adoption === true;
