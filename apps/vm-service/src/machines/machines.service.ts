import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  CPUS,
  vmError,
  type DestroyedView,
  type DestroyMachineRequest,
  type EvidenceRequest,
  type EvidenceView,
  type IncarnationRequest,
  type ListMachinesRequest,
  type MachineList,
  type MachineView,
  type ResetMachineRequest,
  type ShutdownMachineRequest,
  type StartMachineRequest,
  type VerdictReport,
  type WaitMachineRequest,
} from '@inquest/contracts-vm';
import { KeyedQueue, newMachineId, type MachineId, type NodeId } from '@inquest/kernel';
import { VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import { NodeFacts } from '../nodes/node-facts';
import { VmServiceConfig } from '../vm-service.config';
import { ImageResolver } from './image-resolver';
import { MachineLives } from './machine-lives';
import { MachinePaths } from './machine-paths';
import { machineView } from './machine-view';
import type { MachineEntity } from './machine.entity';
import { MachinesRepository } from './machines.repository';

/** How long the agent has to take a request to power off; the machine's own time is the caller's `waitMs`. */
const SHUTDOWN_REQUEST_MS = 10_000;

/** Machines of this node as their callers see them. Operations that change one machine's life go one at a time. */
@Injectable()
export class MachinesService {
  private readonly log = new Logger(MachinesService.name);
  private readonly lifecycle = new KeyedQueue();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly lives: MachineLives,
    private readonly images: ImageResolver,
    private readonly paths: MachinePaths,
    private readonly node: NodeFacts,
  ) {}

  /**
   * Answers with the machine in `requested`; wait for `ready` with `wait`. Throws `MACHINE_NAME_TAKEN`, `NODE_EXHAUSTED`
   * and what the image check throws; nothing is left then.
   */
  async start(request: StartMachineRequest): Promise<MachineView> {
    const launch = await this.images.resolve(request.image, request.version, request.purpose);
    const memoryMib = request.memoryMib ?? launch.image.defaultMemoryMib;
    this.node.requireMemory(memoryMib);
    const { accelerator } = await this.node.accelerator();
    const { row, isNew } = await this.machines.insertOnce({
      machineId: newMachineId(this.config.nodeId as NodeId),
      requestId: request.requestId,
      name: request.name,
      node: this.config.nodeId,
      image: launch.image.name,
      imageVersion: launch.image.version,
      purpose: request.purpose,
      state: 'requested',
      reason: 'requested',
      message: 'accepted',
      incarnation: 1,
      cpus: request.cpus ?? CPUS.default,
      memoryMib,
      accelerator,
      hasScreen: launch.image.hasScreen,
      owner: request.owner,
      verdict: null,
      isRemoved: false,
      createdAt: new Date(),
      readyAt: null,
      endedAt: null,
    });
    if (isNew) this.lives.begin(row, launch);
    return this.view(row);
  }

  async show(machine: MachineId): Promise<MachineView> {
    return this.view(await this.machines.get(machine));
  }

  async find(idOrName: string): Promise<MachineList> {
    const row = await this.machines.find(this.config.nodeId as NodeId, idOrName);
    return { items: row === null ? [] : [this.view(row)] };
  }

  async list({ includeEnded, limit }: ListMachinesRequest): Promise<MachineList> {
    const rows = await this.machines.list(this.config.nodeId as NodeId, includeEnded, limit);
    return { items: rows.map((row) => this.view(row)) };
  }

  async wait({ machineId, states, waitMs }: WaitMachineRequest): Promise<MachineView> {
    return this.view(await this.machines.waitFor(machineId as MachineId, states, waitMs));
  }

  /**
   * Asks the guest to power off and waits for the machine to end. Kills nothing: a guest that does not obey is still
   * there afterwards, and its provisional verdict says so. Throws `MACHINE_STATE_WRONG`, `MACHINE_INCARNATION_STALE`.
   */
  shutdown(request: ShutdownMachineRequest): Promise<MachineView> {
    const machine = request.machineId as MachineId;
    return this.lifecycle.run(machine, async () => {
      const row = await this.inIncarnation(machine, request.incarnation);
      const life = this.lives.find(machine);
      if (life === null) throw stateWrong(row, 'powered off');
      await life.evidence.recordAction({ action: 'shutdown', by: request.by, reason: request.mode });
      await this.machines.change(machine, row.incarnation, { state: 'ending', reason: 'shutdown_requested' });
      await life.agent
        .shutdown(request.mode, { signal: AbortSignal.timeout(SHUTDOWN_REQUEST_MS) })
        .catch((e: unknown) => this.log.warn(`machine ${machine}: the agent did not take the shutdown: ${String(e)}`));
      return this.view(await this.machines.waitFor(machine, ['ended'], request.waitMs));
    });
  }

  /** Kills, waits until the process is observed gone, and starts a new incarnation on a new overlay. */
  reset(request: ResetMachineRequest): Promise<MachineView> {
    const machine = request.machineId as MachineId;
    return this.lifecycle.run(machine, async () => {
      const row = await this.inIncarnation(machine, request.incarnation);
      if (row.isRemoved) throw stateWrong(row, 'reset');
      const launch = await this.images.resolve(row.image, row.imageVersion, row.purpose);
      await this.end(row, 'reset', request.by);
      const incarnation = row.incarnation + 1;
      const fresh = {
        state: 'requested',
        reason: 'reset',
        message: 'starting afresh',
        readyAt: null,
        endedAt: null,
      } as const;
      await this.machines.change(machine, row.incarnation, { ...fresh, incarnation, verdict: null });
      this.lives.begin({ ...row, ...fresh, incarnation, verdict: null }, launch);
      return this.show(machine);
    });
  }

  /** Ends and removes a machine in whatever state. Idempotent. The answer is what was observed. */
  destroy({ machineId, by }: DestroyMachineRequest): Promise<DestroyedView> {
    const machine = machineId as MachineId;
    return this.lifecycle.run(machine, async () => {
      const row = await this.machines.get(machine);
      const { killed, signalled, directoryRemoved } = await this.end(row, 'destroy', by);
      const ended = await this.machines.get(machine);
      const wasEnded = ended.state === 'ended';
      await this.machines.change(machine, ended.incarnation, {
        isRemoved: directoryRemoved,
        ...(wasEnded ? {} : { state: 'ended' as const, reason: 'destroyed', message: 'removed', endedAt: new Date() }),
      });
      return { machineId: machine, killed, signalled, directoryRemoved, verdict: ended.verdict };
    });
  }

  /** The stored verdict of an incarnation, or, for one that still lives, the verdict as of an active probe made now. */
  async verdict(request: IncarnationRequest): Promise<VerdictReport> {
    const machine = request.machineId as MachineId;
    const row = await this.machines.get(machine);
    const incarnation = request.incarnation ?? row.incarnation;
    if (incarnation > row.incarnation) throw stale(row, incarnation);
    const life = this.lives.find(machine);
    if (life?.incarnation === incarnation) {
      await life.probe();
      const verdict = await life.evidence.verdictAsOf(life.meta(null));
      return report(machine, incarnation, verdict, true);
    }
    const bundle = new EvidenceBundle(this.paths.evidence(machine, incarnation));
    return report(machine, incarnation, await bundle.recompute(), false);
  }

  /** Part of an evidence file of this or an earlier incarnation. Throws `MACHINE_UNKNOWN`, `MACHINE_INCARNATION_STALE`. */
  async evidence({ machineId, incarnation: wanted, file, fromOffset }: EvidenceRequest): Promise<EvidenceView> {
    const machine = machineId as MachineId;
    const row = await this.machines.get(machine);
    const incarnation = wanted ?? row.incarnation;
    if (incarnation > row.incarnation) throw stale(row, incarnation);
    const bundle = new EvidenceBundle(this.paths.evidence(machine, incarnation));
    return { machineId: machine, incarnation, file, ...(await bundle.readPart(file, fromOffset)) };
  }

  /** Ends the running incarnation, if any, with its verdict stored, and removes the instance. */
  private async end(row: MachineEntity, action: 'reset' | 'destroy', by: string) {
    const machine = row.machineId as MachineId;
    const directory = this.paths.instance(machine, row.incarnation);
    await this.lives.abandonBirth(machine, action);
    const life = this.lives.find(machine);
    if (life !== null) {
      await life.evidence.recordAction({ action, by, reason: action });
      await life.handle.stop({ graceMs: 0 });
    }
    await this.lives.whenConcluded(machine);
    const destroyed = await this.driver.destroyInstance(directory);
    return { ...destroyed, signalled: destroyed.signalled || life !== null };
  }

  private async inIncarnation(machine: MachineId, incarnation: number | null): Promise<MachineEntity> {
    const row = await this.machines.get(machine);
    if (incarnation !== null && incarnation !== row.incarnation) throw stale(row, incarnation);
    return row;
  }

  private view(row: MachineEntity): MachineView {
    return machineView(row, this.lives.find(row.machineId as MachineId)?.lastSeenAtMs ?? null);
  }
}

const report = (
  machineId: MachineId,
  incarnation: number,
  verdict: Awaited<ReturnType<EvidenceBundle['recompute']>>,
  isProvisional: boolean,
): VerdictReport => ({
  machineId,
  incarnation,
  verdict: verdictView(verdict),
  engineVersion: String(verdict.engineVersion),
  isProvisional,
});

const stale = (row: MachineEntity, incarnation: number) =>
  vmError(
    'MACHINE_INCARNATION_STALE',
    `machine ${row.machineId} is in incarnation ${row.incarnation}, not ${incarnation}`,
    {
      machine: row.machineId,
      incarnation: row.incarnation,
    },
  );

const stateWrong = (row: MachineEntity, wanted: string) =>
  vmError('MACHINE_STATE_WRONG', `machine ${row.machineId} is ${row.state} (${row.reason}) and cannot be ${wanted}`, {
    machine: row.machineId,
    state: row.state,
  });
