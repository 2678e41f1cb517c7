import { Injectable } from '@nestjs/common';
import { vmError, type IncarnationRequest } from '@inquest/contracts-vm';
import { toDomainError, withDeadline, type DomainError, type MachineId } from '@inquest/kernel';
import type { LiveMachine } from '../machines/live-machine';
import { MachineLives } from '../machines/machine-lives';
import { staleIncarnation, stateWrong } from '../machines/machine-refusals';
import type { MachineEntity } from '../machines/machine.entity';
import { MachinesRepository } from '../machines/machines.repository';

/** How long a broken link waits for the machine's own end to be seen, so that it can be named as the cause. */
const END_SETTLE_MS = 500;
/** How long a verb that broke waits for the verdict, so that its error can say how the machine ended. */
const VERDICT_WAIT_MS = 1_000;
/** The transport broke; whether the machine ended is to be seen. */
const BROKEN: readonly string[] = ['LINK_CLOSED', 'LINK_UNREACHABLE', 'MUX_STREAM_RESET'];

/** The machine that a verb acts on, and what it means when the verb's transport breaks. */
@Injectable()
export class LiveMachines {
  constructor(
    private readonly lives: MachineLives,
    private readonly machines: MachinesRepository,
  ) {}

  /** Throws `MACHINE_UNKNOWN`, `MACHINE_INCARNATION_STALE`, and `MACHINE_STATE_WRONG` when it does not run. */
  async require({ machineId, incarnation }: IncarnationRequest): Promise<LiveMachine> {
    const life = this.lives.find(machineId as MachineId);
    // What runs here and has answered is ready, whatever its row has been told; asking the database would cost a verb a
    // quarter of its time.
    if (life !== null && life.lastSeenAtMs !== null && (incarnation ?? life.incarnation) === life.incarnation)
      return life;
    const row = await this.machines.get(machineId as MachineId);
    if (incarnation !== null && incarnation !== row.incarnation) throw staleIncarnation(row, incarnation);
    throw stateWrong(row, 'and takes no verbs');
  }

  /** Runs a verb on `life`. Throws what it throws, and `MACHINE_LOST`, with the account, when the machine went with it. */
  async run<T>(life: LiveMachine, verb: () => Promise<T>): Promise<T> {
    try {
      return await verb();
    } catch (e) {
      throw await this.explain(life, e);
    }
  }

  /** The error as the caller gets it: a transport that broke because the machine ended is `MACHINE_LOST`. */
  async explain(life: LiveMachine, e: unknown): Promise<DomainError> {
    const error = toDomainError(e);
    const isBroken = BROKEN.includes(error.code);
    if (error.fault === 'caller' || (!isBroken && !life.ended.aborted)) return error;
    // The link closes a moment before the process is seen to be gone.
    await withDeadline(life.handle.exited, END_SETTLE_MS, 'the end of the machine').catch(() => undefined);
    await this.lives.whenConcluded(life.machineId, VERDICT_WAIT_MS);
    const row = await this.machines.get(life.machineId);
    return vmError(
      'MACHINE_LOST',
      `machine ${life.machineId} was lost: ${accountOf(row, life)}`,
      { machine: life.machineId, state: row.state },
      e,
    );
  }
}

function accountOf(row: MachineEntity, life: LiveMachine): string {
  if (row.incarnation !== life.incarnation) return 'it was reset';
  if (row.state === 'ended') return row.message;
  return life.ended.aborted
    ? 'its process is gone; the verdict is being drawn'
    : 'its guest agent went away, but the machine still runs';
}
