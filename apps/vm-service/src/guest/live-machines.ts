import { Injectable } from '@nestjs/common';
import { vmError, type IncarnationRequest } from '@inquest/contracts-vm';
import { hasCode, withDeadline, type MachineId } from '@inquest/kernel';
import { LiveMachine } from '../machines/live-machine';
import { MachineLives } from '../machines/machine-lives';
import { MachinesRepository } from '../machines/machines.repository';

/** How long a broken link waits for the machine's own end to be seen, so that it can be named as the cause. */
const END_SETTLE_MS = 500;

/** The machine that a verb acts on, and what it means when the verb's transport breaks. */
@Injectable()
export class LiveMachines {
  constructor(
    private readonly lives: MachineLives,
    private readonly machines: MachinesRepository,
  ) {}

  /** Throws `MACHINE_UNKNOWN`, `MACHINE_INCARNATION_STALE`, and `MACHINE_STATE_WRONG` when it does not run. */
  async require({ machineId, incarnation }: IncarnationRequest): Promise<LiveMachine> {
    const row = await this.machines.get(machineId as MachineId);
    if (incarnation !== null && incarnation !== row.incarnation) {
      const message = `machine ${machineId} is in incarnation ${row.incarnation}, not ${incarnation}`;
      throw vmError('MACHINE_INCARNATION_STALE', message, { machine: machineId, incarnation: row.incarnation });
    }
    const life = this.lives.find(machineId as MachineId);
    if (life !== null && row.state !== 'starting') return life;
    throw vmError('MACHINE_STATE_WRONG', `machine ${machineId} is ${row.state} (${row.reason}): ${row.message}`, {
      machine: machineId,
      state: row.state,
    });
  }

  /** The error as the caller gets it: a link that closed because the machine ended is `MACHINE_LOST`, with the account. */
  async explain(life: LiveMachine, e: unknown): Promise<unknown> {
    if (!hasCode(e, 'LINK_CLOSED')) return e;
    // The link closes a moment before the process is seen to be gone.
    await withDeadline(life.handle.exited, END_SETTLE_MS, 'the end of the machine').catch(() => undefined);
    await this.lives.whenConcluded(life.machineId, END_SETTLE_MS);
    const row = await this.machines.get(life.machineId);
    const account = row.state === 'ended' ? row.message : 'its guest agent went away, but the machine still runs';
    return vmError(
      'MACHINE_LOST',
      `machine ${life.machineId} was lost: ${account}`,
      { machine: life.machineId, state: row.state },
      e,
    );
  }
}
