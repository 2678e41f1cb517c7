import { rmdir } from 'node:fs/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  MACHINE_STATES,
  type CloneMachineRequest,
  type DestroyedView,
  type DestroyMachineRequest,
  type EvidenceRequest,
  type EvidenceView,
  type IncarnationRequest,
  type ListMachinesRequest,
  type MachineList,
  type MachineState,
  type MachineView,
  type ResetMachineRequest,
  type ShareRequest,
  type ShutdownMachineRequest,
  type StartMachineRequest,
  type UnshareRequest,
  type VerdictReport,
  type VerdictView,
  type WaitMachineRequest,
  vmError,
} from '@inquest/contracts-vm';
import { hasCode, KeyedQueue, newMachineId, type MachineId, type NodeId } from '@inquest/kernel';
import { ENGINE_VERSION } from '@inquest/verdict-engine';
import { VM_DRIVER, type DestroyedInstance, type VmDriver } from '@inquest/vm-driver';
import { EgressOffers } from '../egress/egress-offers';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import { HostAccelerator } from '../nodes/host-accelerator';
import { NodeFacts } from '../nodes/node-facts';
import type { MachinePeer } from '../peers/machine-peer';
import type { MachineShare } from '../shares/machine-share';
import { SharesService } from '../shares/shares.service';
import { VmServiceConfig } from '../vm-service.config';
import { WarmStart } from '../warm-pool/warm-start';
import { ImageResolver } from './image-resolver';
import { MachineLives } from './machine-lives';
import { MachinePaths } from './machine-paths';
import { copyOf, requireClonable } from './machine-copy';
import { staleIncarnation, stateWrong } from './machine-refusals';
import { listedView, machineView } from './machine-view';
import type { MachineEntity } from './machine.entity';
import { requestedMachine, requireCapabilities } from './requested-machine';
import { LIVE_STATES, MachinesRepository } from './machines.repository';

/** How long the agent has to take a request to power off; the machine's own time is the caller's `waitMs`. */
const SHUTDOWN_REQUEST_MS = 10_000;
/** States in which there is an agent to ask; `ending` because a guest may be asked again. */
const SHUTDOWN_FROM: readonly MachineState[] = ['ready', 'paused', 'ending'];
/** A verdict that is being drawn is worth this wait to whoever asks for it. */
const CONCLUSION_WAIT_MS = 5_000;

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
    private readonly accelerator: HostAccelerator,
    private readonly egress: EgressOffers,
    private readonly warm: WarmStart,
    private readonly shares: SharesService,
  ) {}

  /**
   * Answers with the machine in `requested`, or `ready` when the warm pool had one; wait for `ready` with `wait`. Throws `MACHINE_NAME_TAKEN`,
   * `MACHINE_MAINTENANCE_TAKEN`, `MACHINE_CAPABILITY_MISSING`, `NODE_EXHAUSTED`, `EGRESS_ENTRY_INVALID`, `LOCAL_MODEL_MISSING` and what the image check
   * throws; nothing is left then. A request that was made before gets its machine again.
   */
  async start(request: StartMachineRequest, peer: MachinePeer | null = null): Promise<MachineView> {
    // Side by side, because whoever asks waits for both.
    const resolving = this.images.resolve(request.image, request.version, request.purpose);
    resolving.catch(() => undefined);
    const earlier = await this.machines.madeBy(request.requestId);
    if (earlier !== null) return this.view(earlier);
    requireCapabilities(request, peer, this.driver);
    const wishes = this.egress.accept(request);
    const shares = await this.shares.accept(request.shares);
    const launch = await resolving;
    const memoryMib = request.memoryMib ?? launch.image.defaultMemoryMib;
    const machineId = newMachineId(this.config.nodeId as NodeId);
    const accelerator = this.accelerator.known?.accelerator ?? 'probing';
    const { nodeId: node } = this.config;
    const decisions = { ...wishes, machineId, node, memoryMib, accelerator, image: launch.image, shares, peer };
    const requested = requestedMachine(request, decisions, this.driver);
    // It has its memory already.
    const warm = await this.startWarm(requested);
    if (warm !== null) return this.view(warm);
    await this.node.requireMemory(memoryMib);
    // In the machine's queue: a destroy that comes as soon as the row can be seen must find the start to end it.
    return this.lifecycle.run(machineId, async () => {
      const { row, isNew } = await this.machines.insertOnce(requested);
      if (isNew) this.lives.begin(row, launch);
      return this.view(row);
    });
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
    return { items: rows.map((row) => listedView(this.view(row))) };
  }

  async wait({ machineId, states, waitMs }: WaitMachineRequest): Promise<MachineView> {
    return this.view(await this.machines.waitFor(machineId as MachineId, states, waitMs));
  }

  /**
   * Asks the guest to power off and waits for the machine to end. Kills nothing: a guest that does not obey is still
   * there afterwards, and its provisional verdict says so. Throws `MACHINE_STATE_WRONG`, `MACHINE_INCARNATION_STALE`.
   * Not in the machine's queue: a destroy does not wait for a guest that does not obey.
   */
  async shutdown(request: ShutdownMachineRequest): Promise<MachineView> {
    const machine = request.machineId as MachineId;
    const row = await this.inIncarnation(machine, request.incarnation);
    const life = this.lives.find(machine);
    if (life === null || !SHUTDOWN_FROM.includes(row.state)) throw stateWrong(row, 'and cannot be powered off');
    await life.evidence.recordAction({ action: 'shutdown', by: request.by, reason: request.mode });
    const message = `${request.by} asked for ${request.mode}`;
    const asked = { state: 'ending', reason: 'shutdown_requested', message } as const;
    await this.machines.change(machine, row.incarnation, SHUTDOWN_FROM, asked);
    await life.agent
      .shutdown(request.mode, { signal: AbortSignal.timeout(SHUTDOWN_REQUEST_MS) })
      .catch((e: unknown) => this.log.warn(`machine ${machine}: the agent did not take the shutdown: ${String(e)}`));
    return this.view(await this.machines.waitFor(machine, ['ended'], request.waitMs));
  }

  /**
   * Kills, waits until the process is observed gone, and starts a new incarnation on a new overlay. Throws
   * `MACHINE_STATE_WRONG` for a removed machine and for one whose process does not end, `MACHINE_INCARNATION_STALE`,
   * `MACHINE_NAME_TAKEN`, `SHARE_REFUSED` and what the image check throws; both are checked before anything is killed.
   */
  reset(request: ResetMachineRequest): Promise<MachineView> {
    const machine = request.machineId as MachineId;
    return this.lifecycle.run(machine, async () => {
      const row = await this.inIncarnation(machine, request.incarnation);
      if (row.isRemoved) throw stateWrong(row, 'and removed, so it cannot be reset');
      const launch = await this.images.resolve(row.image, row.imageVersion, row.purpose);
      await this.shares.recheck(row.shares);
      const { killed } = await this.end(row, 'reset', request.by);
      if (!killed) throw stateWrong(row, 'and its process does not end, so it cannot be reset');
      const fresh = await this.machines.reincarnate(await this.machines.get(machine));
      this.lives.begin(fresh, launch);
      return this.view(fresh);
    });
  }

  /**
   * Copies a machine while it runs. Answers with the copy in `requested`. Throws `MACHINE_STATE_WRONG`,
   * `MACHINE_INCARNATION_STALE`, `MACHINE_UNCLONABLE`, `MACHINE_NAME_TAKEN`, `NODE_EXHAUSTED` and what the image check
   * throws; there is no copy then.
   */
  async clone({ machineId, incarnation, name, by }: CloneMachineRequest): Promise<MachineView> {
    const row = await this.inIncarnation(machineId as MachineId, incarnation);
    const source = this.lives.find(machineId as MachineId);
    if (source === null || row.state !== 'ready') throw stateWrong(row, 'and cannot be copied');
    requireClonable(row, this.driver);
    const launch = await this.images.resolve(row.image, row.imageVersion, row.purpose);
    await this.node.requireMemory(row.memoryMib);
    const copy = copyOf(row, newMachineId(this.config.nodeId as NodeId), name);
    const reason = `while ${copy.machineId} is made of it`;
    return this.lifecycle.run(copy.machineId, async () => {
      const { row: inserted } = await this.machines.insertOnce(copy);
      await source.evidence.recordAction({ action: 'pause', by, reason });
      this.lives.begin(inserted, launch, source);
      return this.view(inserted);
    });
  }

  /**
   * Gives the machine a directory from its next incarnation on: a device cannot be added to one that runs. Throws
   * `MACHINE_STATE_WRONG` for a removed machine, `SHARE_REFUSED` and `MACHINE_CAPABILITY_MISSING`.
   */
  share({ machineId, share }: ShareRequest): Promise<MachineView> {
    return this.changeShares(machineId as MachineId, (present) => this.shares.accept([share], present));
  }

  /** Takes a share away, from the machine's next incarnation on. Throws `SHARE_UNKNOWN`, `MACHINE_STATE_WRONG`. */
  unshare({ machineId, guestPath }: UnshareRequest): Promise<MachineView> {
    return this.changeShares(machineId as MachineId, (present) => {
      const left = present.filter((share) => share.guestPath !== guestPath);
      if (left.length < present.length) return left;
      throw vmError('SHARE_UNKNOWN', `machine ${machineId} has no share at ${guestPath}`, { machine: machineId });
    });
  }

  /** Ends and removes a machine in whatever state. Idempotent. The answer is what was observed. */
  destroy({ machineId, by }: DestroyMachineRequest): Promise<DestroyedView> {
    const machine = machineId as MachineId;
    return this.lifecycle.run(machine, async () => {
      const row = await this.machines.get(machine);
      const { killed, signalled, directoryRemoved } = await this.end(row, 'destroy', by);
      if (killed) {
        // Only where no verdict could be stored in time: what is gone must not look alive.
        const gone = { state: 'ended', reason: 'destroyed', message: `removed by ${by}`, endedAt: new Date() } as const;
        await this.machines.change(machine, row.incarnation, LIVE_STATES, gone);
      }
      // Only once the last machine of it is gone is it empty.
      if (row.peer !== null) await rmdir(this.paths.network(row.peer.groupId)).catch(() => undefined);
      if (directoryRemoved) await this.machines.change(machine, row.incarnation, ['ended'], { isRemoved: true });
      const { verdict } = await this.machines.get(machine);
      return { machineId: machine, killed, signalled, directoryRemoved, verdict };
    });
  }

  /**
   * The stored verdict of an incarnation, drawn anew from its evidence, or, for one that still lives, the verdict as of
   * an active probe made now. Throws `MACHINE_UNKNOWN`, `MACHINE_INCARNATION_STALE`, and `MACHINE_STATE_WRONG` for a
   * machine that has not begun to run.
   */
  async verdict(request: IncarnationRequest): Promise<VerdictReport> {
    const machine = request.machineId as MachineId;
    // One that ends right now has its verdict in a moment.
    if (this.lives.find(machine) === null) await this.lives.whenConcluded(machine, CONCLUSION_WAIT_MS);
    const row = await this.machines.get(machine);
    const incarnation = request.incarnation ?? row.incarnation;
    if (incarnation > row.incarnation) throw staleIncarnation(row, incarnation);
    const life = this.lives.find(machine);
    if (life?.incarnation === incarnation) {
      await life.probe();
      return report(machine, incarnation, verdictView(await life.evidence.verdictAsOf(life.meta(null))), true);
    }
    if (incarnation === row.incarnation && row.state !== 'ended') throw stateWrong(row, 'and has no verdict yet');
    return report(machine, incarnation, await this.storedVerdict(row, incarnation), false);
  }

  /** Part of an evidence file of this or an earlier incarnation. Throws `MACHINE_UNKNOWN`, `MACHINE_INCARNATION_STALE`. */
  async evidence({ machineId, incarnation: wanted, file, fromOffset }: EvidenceRequest): Promise<EvidenceView> {
    const machine = machineId as MachineId;
    const row = await this.machines.get(machine);
    const incarnation = wanted ?? row.incarnation;
    if (incarnation > row.incarnation) throw staleIncarnation(row, incarnation);
    const bundle = new EvidenceBundle(this.paths.evidence(machine, incarnation));
    return { machineId: machine, incarnation, file, ...(await bundle.readPart(file, fromOffset)) };
  }

  private async startWarm(requested: MachineEntity): Promise<MachineEntity | null> {
    const life = this.warm.claim(requested);
    if (life === null) return null;
    return this.lifecycle.run(life.machineId, () => this.warm.become(life, requested));
  }

  /** From the files; from the row when the disk was full as they should have been written. */
  private async storedVerdict(row: MachineEntity, incarnation: number): Promise<VerdictView> {
    const bundle = new EvidenceBundle(this.paths.evidence(row.machineId as MachineId, incarnation));
    try {
      return verdictView(await bundle.recompute());
    } catch (e) {
      const inRow = incarnation === row.incarnation ? row.verdict : null;
      if (!hasCode(e, 'EVIDENCE_META_MISSING') || inRow === null) throw e;
      return inRow;
    }
  }

  /** Ends the running incarnation, if any, with its verdict stored, and removes the instance. */
  private async end(row: MachineEntity, action: 'reset' | 'destroy', by: string): Promise<DestroyedInstance> {
    const machine = row.machineId as MachineId;
    const isEnded = await this.lives.end(machine, action, by);
    const destroyed = await this.driver.destroyInstance(this.paths.instance(machine, row.incarnation));
    return { ...destroyed, signalled: destroyed.signalled || isEnded };
  }

  private async inIncarnation(machine: MachineId, incarnation: number | null): Promise<MachineEntity> {
    const row = await this.machines.get(machine);
    if (incarnation !== null && incarnation !== row.incarnation) throw staleIncarnation(row, incarnation);
    return row;
  }

  private changeShares(
    machine: MachineId,
    change: (present: readonly MachineShare[]) => readonly MachineShare[] | Promise<readonly MachineShare[]>,
  ): Promise<MachineView> {
    return this.lifecycle.run(machine, async () => {
      const row = await this.machines.get(machine);
      if (row.isRemoved) throw stateWrong(row, 'and removed, so it has no next incarnation');
      const shares = [...(await change(row.shares))];
      await this.machines.change(machine, row.incarnation, MACHINE_STATES, { shares });
      return this.view({ ...row, shares });
    });
  }

  private view(row: MachineEntity): MachineView {
    return machineView(row, this.lives.find(row.machineId as MachineId));
  }
}

const report = (
  machineId: MachineId,
  incarnation: number,
  verdict: VerdictView,
  isProvisional: boolean,
): VerdictReport => ({ machineId, incarnation, verdict, engineVersion: String(ENGINE_VERSION), isProvisional });
