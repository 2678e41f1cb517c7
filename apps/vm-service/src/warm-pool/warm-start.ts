import { Injectable, Logger } from '@nestjs/common';
import { giveIdentity } from '@inquest/vm-driver';
import type { LiveMachine } from '../machines/live-machine';
import { MachineLives } from '../machines/machine-lives';
import { hostnameOf } from '../machines/machine-specification';
import type { MachineEntity } from '../machines/machine.entity';
import { MachinesRepository } from '../machines/machines.repository';
import { WarmPool } from './warm-pool';

/** A guest that is up takes its name in milliseconds. */
const NAME_TIMEOUT_MS = 5_000;

/** Makes a machine of the warm pool the one that a caller asked for. */
@Injectable()
export class WarmStart {
  private readonly log = new Logger(WarmStart.name);

  constructor(
    private readonly pool: WarmPool,
    private readonly machines: MachinesRepository,
    private readonly lives: MachineLives,
  ) {}

  /** Takes a machine out of the pool for the request; null when none fits. It is the caller's to `become` or `release`. */
  claim({ image, imageVersion: version, cpus, memoryMib, ...wishes }: MachineEntity): LiveMachine | null {
    // What leads out of a machine is there from its start, and a pool machine has none; its clock runs already.
    const isOffline = wishes.allowedHosts.length === 0 && !wishes.hasLocalModel && wishes.peer === null;
    const isClosed = isOffline && wishes.shares.length === 0;
    const isPlain = wishes.purpose === 'session' && isClosed && wishes.rtcBase === null;
    return isPlain ? this.pool.claim({ image, version, cpus, memoryMib }, wishes.hasScreen) : null;
  }

  /**
   * Gives the claimed machine the row of the request, and its name. Null when it did not take the name: it is gone then,
   * and the request is as it was. Throws `MACHINE_NAME_TAKEN`; it is gone then, too.
   */
  async become(life: LiveMachine, requested: MachineEntity): Promise<MachineEntity | null> {
    const row: MachineEntity = {
      ...requested,
      machineId: life.machineId,
      state: 'ready',
      reason: 'ready',
      message: 'the guest agent answers',
      origin: life.origin,
      readyAt: new Date(),
    };
    try {
      if (row.name !== null && !(await this.name(life, row))) return await this.drop(life, null);
      const by = row.owner ?? 'caller';
      const [inserted] = await Promise.all([
        this.machines.insertOnce(row),
        life.evidence.recordAction({ action: 'start', by, reason: 'claimed from the warm pool' }),
      ]);
      if (!inserted.isNew) return await this.drop(life, inserted.row);
      this.lives.take(row, life);
      return row;
    } catch (e) {
      await this.drop(life, null);
      throw e;
    } finally {
      this.pool.refill();
    }
  }

  private async name({ handle, machineId }: LiveMachine, row: MachineEntity): Promise<boolean> {
    try {
      const identity = { hostname: hostnameOf(row), rtcBaseMs: null };
      await giveIdentity(handle.link, identity, { signal: AbortSignal.timeout(NAME_TIMEOUT_MS) });
      return true;
    } catch (e) {
      this.log.warn(`warm machine ${machineId} did not take a name`, e);
      return false;
    }
  }

  private async drop<T>(life: LiveMachine, result: T): Promise<T> {
    await this.pool
      .release(life)
      .catch((e: unknown) => this.log.error(`warm machine ${life.machineId} could not be removed`, e));
    return result;
  }
}
