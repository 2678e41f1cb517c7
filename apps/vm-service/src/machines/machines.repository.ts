import { Injectable } from '@nestjs/common';
import { DataSource, In, Not, type EntityManager, type Repository } from 'typeorm';
import { MACHINE_STATES, vmError, vmEvents, type MachineState } from '@inquest/contracts-vm';
import { StateWaiters, type DomainError, type MachineId, type NodeId } from '@inquest/kernel';
import { EntityStatements, Outbox } from '@inquest/persistence';
import { staleIncarnation } from './machine-refusals';
import { machineView } from './machine-view';
import { MachineEntity } from './machine.entity';

export type MachineChange = Partial<MachineEntity>;

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** The states of a machine that has not ended. */
export const LIVE_STATES: readonly MachineState[] = MACHINE_STATES.filter((state) => state !== 'ended');

/** Rows of machines. A change of state and its event are one transaction; whoever waits for the state is woken. */
@Injectable()
export class MachinesRepository {
  private readonly rows: Repository<MachineEntity>;
  private readonly statements: EntityStatements<MachineEntity>;
  private readonly waiters = new StateWaiters();

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    this.rows = database.getRepository(MachineEntity);
    this.statements = new EntityStatements(database, MachineEntity);
  }

  /** The machine that a request made; null when there is none, or when the request has no id. */
  madeBy(requestId: string | null): Promise<MachineEntity | null> {
    return requestId === null ? Promise.resolve(null) : this.rows.findOneBy({ requestId });
  }

  /** Inserts, or gives back the machine that the same request id made before. Throws `MACHINE_NAME_TAKEN`. */
  async insertOnce(row: MachineEntity): Promise<{ readonly row: MachineEntity; readonly isNew: boolean }> {
    try {
      const { machineId } = row;
      const inserted = { statements: this.statements, row };
      await this.outbox.insertWithEvent(inserted, vmEvents.machineChanged, [machineId], changed(row));
      return { row, isNew: true };
    } catch (e) {
      return this.afterConflict(row, e);
    }
  }

  /** Throws `MACHINE_UNKNOWN`. */
  async get(machine: MachineId): Promise<MachineEntity> {
    const [row] = await this.statements.find({ machineId: machine });
    if (row === undefined) throw vmError('MACHINE_UNKNOWN', `no machine ${machine} is known`, { machine });
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
    return this.rows.findBy({ node, state: In([...LIVE_STATES]) });
  }

  /**
   * Changes a machine that is in this incarnation and in one of the states `from`; false, and nothing changed, when it
   * is not. The states are checked by the database, so that of two changes at once the later one cannot undo an end.
   */
  async change(
    machine: MachineId,
    incarnation: number,
    from: readonly MachineState[],
    change: MachineChange,
  ): Promise<boolean> {
    const isChanged = await this.database.transaction(async (manager) => {
      const [row] = await this.statements.update(manager, { machineId: machine, incarnation, state: from }, change);
      if (row === undefined) return false;
      await this.addEvent(manager, row);
      return true;
    });
    this.waiters.notify(machine);
    return isChanged;
  }

  /**
   * Takes a machine whose incarnation is over into the next one, and gives it as it is now. Throws `MACHINE_NAME_TAKEN`
   * when another live machine has got its name meanwhile, and `MACHINE_INCARNATION_STALE` when somebody was faster.
   */
  async reincarnate(row: MachineEntity): Promise<MachineEntity> {
    const machine = row.machineId as MachineId;
    const incarnation = row.incarnation + 1;
    const fresh = {
      state: 'requested',
      reason: 'reset',
      message: 'starting afresh',
      incarnation,
      origin: null,
      isEgressUp: false,
      readyAt: null,
      endedAt: null,
      verdict: null,
    } as const;
    const isChanged = await this.change(machine, row.incarnation, ['ended'], fresh).catch((e: unknown) => {
      throw isUniqueViolation(e) ? conflict(row, e) : e;
    });
    if (!isChanged) throw staleIncarnation(await this.get(machine), row.incarnation);
    return { ...row, ...fresh };
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
    if (!isUniqueViolation(e)) throw e;
    const earlier = await this.madeBy(row.requestId);
    if (earlier !== null) return { row: earlier, isNew: false };
    throw conflict(row, e);
  }

  private addEvent(manager: EntityManager, row: MachineEntity): Promise<void> {
    return this.outbox.add(manager, vmEvents.machineChanged, [row.machineId], changed(row));
  }
}

const changed = (row: MachineEntity) => ({ machine: machineView(row, null), atMs: Date.now() });

const isUniqueViolation = (e: unknown): boolean => (e as { code?: unknown }).code === UNIQUE_VIOLATION;

/** What the database refused: a second writer of a working copy, or a second live machine of the same name. */
function conflict({ name, image, imageVersion }: MachineEntity, e: unknown): DomainError {
  if ((e as { constraint?: unknown }).constraint === 'UQ_machine_maintenance') {
    const message = `another live machine writes the working copy ${image}:${imageVersion}`;
    return vmError('MACHINE_MAINTENANCE_TAKEN', message, { image, version: imageVersion });
  }
  return vmError('MACHINE_NAME_TAKEN', `another live machine is called "${name}"`, { name });
}
