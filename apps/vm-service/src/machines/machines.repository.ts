import { Injectable } from '@nestjs/common';
import { DataSource, In, Not, type EntityManager, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { vmError, vmEvents, type MachineState } from '@inquest/contracts-vm';
import { StateWaiters, type MachineId, type NodeId } from '@inquest/kernel';
import { Outbox } from '@inquest/persistence';
import { machineView } from './machine-view';
import { MachineEntity } from './machine.entity';

export type MachineChange = QueryDeepPartialEntity<MachineEntity>;

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** Rows of machines. A change of state and its event are one transaction; whoever waits for the state is woken. */
@Injectable()
export class MachinesRepository {
  private readonly rows: Repository<MachineEntity>;
  private readonly waiters = new StateWaiters();

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    this.rows = database.getRepository(MachineEntity);
  }

  /** Inserts, or gives back the machine that the same request id made before. Throws `MACHINE_NAME_TAKEN`. */
  async insertOnce(row: MachineEntity): Promise<{ readonly row: MachineEntity; readonly isNew: boolean }> {
    if (row.requestId !== null) {
      const earlier = await this.rows.findOneBy({ requestId: row.requestId });
      if (earlier !== null) return { row: earlier, isNew: false };
    }
    try {
      await this.database.transaction(async (manager) => {
        await manager.insert(MachineEntity, row);
        await this.addEvent(manager, row);
      });
      return { row, isNew: true };
    } catch (e) {
      return this.afterConflict(row, e);
    }
  }

  /** Throws `MACHINE_UNKNOWN`. */
  async get(machine: MachineId): Promise<MachineEntity> {
    const row = await this.rows.findOneBy({ machineId: machine });
    if (row === null) throw vmError('MACHINE_UNKNOWN', `no machine ${machine} is known`, { machine });
    return row;
  }

  /** A machine of this node by id, or by name: the live one that has it, else the newest of those that had it. */
  async find(node: NodeId, idOrName: string): Promise<MachineEntity | null> {
    const byId = await this.rows.findOneBy({ machineId: idOrName, node });
    if (byId !== null) return byId;
    const live = await this.rows.findOneBy({ name: idOrName, node, state: Not<MachineState>('ended') });
    return live ?? this.rows.findOne({ where: { name: idOrName, node }, order: { createdAt: 'DESC' } });
  }

  /** Newest first. */
  list(node: NodeId, includeEnded: boolean, limit: number): Promise<MachineEntity[]> {
    const where = includeEnded ? { node } : { node, state: Not<MachineState>('ended') };
    return this.rows.find({ where, order: { createdAt: 'DESC' }, take: limit });
  }

  /** Machines of this node that have not ended. */
  unfinished(node: NodeId): Promise<MachineEntity[]> {
    return this.rows.findBy({ node, state: In<MachineState>(['requested', 'starting', 'ready', 'paused', 'ending']) });
  }

  /** Changes the machine in this incarnation; false, and nothing changed, when it has moved on. */
  async change(machine: MachineId, incarnation: number, change: MachineChange): Promise<boolean> {
    const isChanged = await this.database.transaction(async (manager) => {
      const result = await manager.update(MachineEntity, { machineId: machine, incarnation }, change);
      if (result.affected !== 1) return false;
      await this.addEvent(manager, await manager.findOneByOrFail(MachineEntity, { machineId: machine }));
      return true;
    });
    this.waiters.notify(machine);
    return isChanged;
  }

  /** The machine once it is in one of `states`, or as it is after `waitMs`. */
  waitFor(machine: MachineId, states: readonly MachineState[], waitMs: number): Promise<MachineEntity> {
    return this.waiters.wait(
      machine,
      () => this.get(machine),
      (row) => states.includes(row.state),
      waitMs,
    );
  }

  private async afterConflict(row: MachineEntity, e: unknown): Promise<{ row: MachineEntity; isNew: boolean }> {
    if ((e as { code?: string }).code !== UNIQUE_VIOLATION) throw e;
    const earlier = row.requestId === null ? null : await this.rows.findOneBy({ requestId: row.requestId });
    if (earlier !== null) return { row: earlier, isNew: false };
    throw vmError('MACHINE_NAME_TAKEN', `a live machine is already called "${row.name}"`, { name: row.name });
  }

  private addEvent(manager: EntityManager, row: MachineEntity): Promise<void> {
    const body = { machine: machineView(row, null), atMs: Date.now() };
    return this.outbox.add(manager, vmEvents.machineChanged, [row.machineId], body);
  }
}
