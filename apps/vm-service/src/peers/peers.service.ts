import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import {
  DestroyMachineRequest,
  MEMORY_MIB,
  type MachineList,
  type MachineView,
  type StartGroupRequest,
} from '@inquest/contracts-vm';
import { kernelError, newId, type MachineId } from '@inquest/kernel';
import { MachinesRepository } from '../machines/machines.repository';
import { MachinesService } from '../machines/machines.service';
import { NodeFacts } from '../nodes/node-facts';

/** One look at whether the machines of a new group are ready. */
const LOOK_MS = 30_000;
const BY = 'vm-service';

/** Groups of machines that are wired together. A group is made whole or not at all. */
@Injectable()
export class PeersService implements BeforeApplicationShutdown {
  private readonly log = new Logger(PeersService.name);
  private readonly stopping = new AbortController();

  constructor(
    private readonly machines: MachinesService,
    private readonly rows: MachinesRepository,
    private readonly node: NodeFacts,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('vm-service is stopping'));
  }

  /**
   * Starts the machines of a group. Each is `ready` once its neighbours have answered it over the wire; when one of them
   * does not become ready, all are removed. Throws what `MachinesService.start` throws; none is left then.
   */
  async startGroup({ group, count, machine }: StartGroupRequest): Promise<MachineList> {
    if (machine.name !== null || machine.requestId !== null || machine.purpose !== 'session') {
      throw kernelError('INPUT_INVALID', 'the machines of a group have no name, request id or purpose of their own');
    }
    await this.node.requireMemory(count * (machine.memoryMib ?? MEMORY_MIB.default));
    const groupId = newId<string>('grp');
    const items: MachineView[] = [];
    try {
      for (let index = 1; index <= count; index++) {
        const peer = { group, groupId, index, count };
        items.push(await this.machines.start({ ...machine, name: `${group}-${index}` }, peer));
      }
    } catch (e) {
      await this.remove(items);
      throw e;
    }
    void this.keepWhole(items).catch((e: unknown) => this.log.error(`the group ${group} is not watched`, e));
    return { items };
  }

  /** A group of which one machine did not become ready is no group. */
  private async keepWhole(machines: readonly MachineView[]): Promise<void> {
    const fates = await Promise.all(machines.map(({ machineId }) => this.fateOf(machineId as MachineId)));
    if (this.stopping.signal.aborted || fates.every((fate) => fate === 'ready')) return;
    await this.remove(machines);
  }

  private async fateOf(machine: MachineId): Promise<'ready' | 'ended'> {
    while (!this.stopping.signal.aborted) {
      const { state, readyAt } = await this.rows.waitFor(machine, ['ready', 'ended'], LOOK_MS);
      if (readyAt !== null) return 'ready';
      if (state === 'ended') return 'ended';
    }
    return 'ended';
  }

  private async remove(machines: readonly MachineView[]): Promise<void> {
    for (const { machineId } of machines)
      await this.machines.destroy(dto(DestroyMachineRequest, { machineId, by: BY }));
  }
}
