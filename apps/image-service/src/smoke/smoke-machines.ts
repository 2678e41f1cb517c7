import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import { DestroyMachineRequest, ListMachinesRequest, vmError } from '@inquest/contracts-vm';
import { delay } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';

const BY = 'smoke-gate';
/** Machines that one look for leftovers goes through, newest first. */
const LOOK_LIMIT = 500;
const RETRY_MS = 2_000;

/** Sees to it that no machine outlives its smoke test, whoever was killed in between. Its owner is the operation. */
@Injectable()
export class SmokeMachines implements BeforeApplicationShutdown {
  private readonly log = new Logger(SmokeMachines.name);
  private readonly stopping = new AbortController();

  constructor(private readonly machines: VmClient) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('image-service is stopping'));
  }

  /**
   * Destroys what was started for an operation. `machineId` is null when nobody knows whether something was. Never
   * rejects: where the node does not answer, the removal goes on in the background.
   */
  async release(operationId: string, machineId: string | null): Promise<void> {
    try {
      if (machineId === null) await this.destroyOwned([operationId]);
      else await this.destroy(machineId);
    } catch (e) {
      this.log.warn(`the smoke machine of ${operationId} is not removed yet`, e);
      void this.removeLeftovers([operationId]);
    }
  }

  /** Destroys what operations of an earlier life of this service left, as soon as a node answers. Never rejects. */
  async removeLeftovers(operationIds: readonly string[]): Promise<void> {
    const { signal } = this.stopping;
    let isDone = operationIds.length === 0;
    while (!isDone && !signal.aborted) {
      isDone = await this.destroyOwned(operationIds).then(
        () => true,
        () => false,
      );
      if (!isDone) await delay(RETRY_MS, signal).catch(() => undefined);
    }
  }

  private async destroyOwned(operationIds: readonly string[]): Promise<void> {
    if ((await this.machines.nodes()).length === 0) {
      throw vmError('NODE_UNAVAILABLE', 'no vm-service answers, so its smoke machines are not known');
    }
    const all = await this.machines.list(dto(ListMachinesRequest, { includeEnded: true, limit: LOOK_LIMIT }));
    const owned = all.filter(({ owner, isRemoved }) => owner !== null && operationIds.includes(owner) && !isRemoved);
    for (const { machineId } of owned) await this.destroy(machineId);
  }

  private async destroy(machineId: string): Promise<void> {
    const { killed } = await this.machines.destroy(dto(DestroyMachineRequest, { machineId, by: BY }));
    if (!killed) throw vmError('MACHINE_STATE_WRONG', `the process of machine ${machineId} does not end`);
  }
}
