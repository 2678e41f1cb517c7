import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { abortable, isDomainError, kernelError, toDomainError, withDeadline, type MachineId } from '@inquest/kernel';
import { untilStored } from '@inquest/persistence';
import { printable } from '@inquest/verdict-engine';
import { supportsAdoption, VM_DRIVER, type VmDriver, type VmExit, type VmSpec } from '@inquest/vm-driver';
import { EgressOffers } from '../egress/egress-offers';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { HostAccelerator } from '../nodes/host-accelerator';
import { MachineLauncher, type LaunchedMachine } from '../templates/machine-launcher';
import { VmServiceConfig } from '../vm-service.config';
import { connectGuest } from './connect-guest';
import type { LaunchableImage } from './image-resolver';
import { LiveMachine } from './live-machine';
import { MachineEnds } from './machine-ends';
import { MachinePaths } from './machine-paths';
import { machineSpecification } from './machine-specification';
import type { MachineEntity } from './machine.entity';
import { LIVE_STATES, MachinesRepository } from './machines.repository';

const CONSOLE_TAIL_BYTES = 2048;
/** Reading the evidence of a machine that talked a lot, on a slow disk. */
const CONCLUDE_TIMEOUT_MS = 10_000;
/** The driver's teardown of a start that was given up: a kill that is observed, and some files. */
const ABANDON_TIMEOUT_MS = 10_000;
/** A service must be gone 10 s after SIGTERM; requests are drained in the rest of that. */
const STOP_TIMEOUT_MS = 4_000;
const STOPPING = 'vm-service is stopping';

/** What an incarnation is started from. */
interface StartBase {
  readonly launch: LaunchableImage;
  /** The running machine that it is a copy of; null = the image. */
  readonly source: LiveMachine | null;
}

/** A start that is under way. */
interface Birth {
  readonly controller: AbortController;
  readonly done: Promise<void>;
  readonly evidence: EvidenceBundle;
  readonly memoryMib: number;
}

/** The incarnations that run in this process, from the driver's start to the verdict. */
@Injectable()
export class MachineLives implements BeforeApplicationShutdown {
  private readonly log = new Logger(MachineLives.name);
  private readonly stopping = new AbortController();
  private readonly births = new Map<MachineId, Birth>();
  private readonly live = new Map<MachineId, LiveMachine>();
  private readonly endings = new Map<MachineId, Promise<void>>();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly ends: MachineEnds,
    private readonly paths: MachinePaths,
    private readonly accelerator: HostAccelerator,
    private readonly launcher: MachineLauncher,
    private readonly offers: EgressOffers,
  ) {}

  /** The incarnation of a machine whose process runs, or null. */
  find(machine: MachineId): LiveMachine | null {
    return this.live.get(machine) ?? null;
  }

  /** How many machines run or are being started. */
  get count(): number {
    return new Set([...this.live.keys(), ...this.births.keys()]).size;
  }

  /** Memory of the machines that are being started, MiB. */
  get promisedMib(): number {
    return [...this.births.values()].reduce((sum, { memoryMib }) => sum + memoryMib, 0);
  }

  /**
   * Starts an incarnation in the background: of its image, or as a copy of `source`. The row says how it goes: `ready`, or
   * `ended` with the reason.
   */
  begin(row: MachineEntity, launch: LaunchableImage, source: LiveMachine | null = null): void {
    const machine = row.machineId as MachineId;
    const controller = new AbortController();
    const evidence = new EvidenceBundle(this.paths.evidence(machine, row.incarnation));
    const signal = AbortSignal.any([controller.signal, this.stopping.signal]);
    const done = this.bear(row, { launch, source }, evidence, signal)
      .catch((e: unknown) => this.log.error(`the start of machine ${machine} went wrong`, e))
      .finally(() => this.births.delete(machine));
    this.births.set(machine, { controller, done, evidence, memoryMib: row.memoryMib });
  }

  /** Takes over a machine of the warm pool, whose row says that it is ready. */
  take(row: MachineEntity, life: LiveMachine): void {
    this.adopt(row, life);
    // Its caller is answered first.
    setImmediate(() => this.follow(row, life));
  }

  /**
   * Ends what runs of a machine, also a start that is under way, and waits for its verdict. Never rejects: whether the
   * process is gone is for the driver to observe afterwards. True when something ran.
   */
  async end(machine: MachineId, action: 'reset' | 'destroy', by: string): Promise<boolean> {
    const birth = this.births.get(machine);
    const evidence = birth?.evidence ?? this.live.get(machine)?.evidence;
    await evidence?.recordAction({ action, by, reason: action });
    if (birth !== undefined) {
      birth.controller.abort(new Error(action));
      await withDeadline(birth.done, ABANDON_TIMEOUT_MS, 'giving up the start').catch((e: unknown) =>
        this.log.error(`the start of machine ${machine} does not end`, e),
      );
    }
    const life = this.live.get(machine);
    // A process that does not end has no verdict to wait for.
    if (life === undefined || (await this.stop(life))) await this.whenConcluded(machine);
    return evidence !== undefined;
  }

  /** Resolves when the verdict of a machine that ends in this process is stored, or after `withinMs`. */
  async whenConcluded(machine: MachineId, withinMs = CONCLUDE_TIMEOUT_MS): Promise<void> {
    const ending = this.endings.get(machine);
    if (ending !== undefined) await withDeadline(ending, withinMs, 'the verdict').catch(() => undefined);
  }

  /**
   * A service that stops takes its machines with it, unless its next life is to take them over. Before requests are
   * drained, because those that wait for a machine then end by themselves. A machine that is being started ends in any case.
   */
  async beforeApplicationShutdown(): Promise<void> {
    const isKeeping = this.config.machinesAtStop === 'keep' && supportsAdoption(this.driver);
    const born = [...this.live.values()].filter(({ machineId }) => !this.births.has(machineId));
    const [kept, ended] = isKeeping ? [born, []] : [[], born];
    const records = [...this.births.values(), ...ended].map(({ evidence }) => evidence);
    const action = { action: 'kill', by: 'vm-service', reason: STOPPING } as const;
    await Promise.all(records.map((evidence) => evidence.recordAction(action)));
    this.stopping.abort(new Error(STOPPING));
    const letGo = kept.map((life) => life.letGo());
    const stops = ended.map((life) => this.stop(life));
    const births = [...this.births.values()].map(({ done }) => done);
    const keptIds = kept.map(({ machineId }) => machineId);
    const endings = (): Promise<void>[] =>
      [...this.endings].flatMap(([machine, ending]) => (keptIds.includes(machine) ? [] : [ending]));
    const done = Promise.allSettled([...letGo, ...stops, ...births]).then(() => Promise.allSettled(endings()));
    await withDeadline(done, STOP_TIMEOUT_MS, 'ending the machines').catch((e: unknown) =>
      this.log.error('machines are left to the next start of vm-service', e),
    );
  }

  private async bear(
    row: MachineEntity,
    base: StartBase,
    evidence: EvidenceBundle,
    signal: AbortSignal,
  ): Promise<void> {
    const startedAtMs = Date.now();
    const egress = this.offers.make(row);
    let launched: LaunchedMachine;
    try {
      launched = await this.startUp(row, base, { evidence, egress }, signal);
    } catch (e) {
      await egress.close();
      if (!isDomainError(e)) this.log.error(`machine ${row.machineId} could not be started`, e);
      const facts = { driver: this.driver.name, startedAtMs, message: toDomainError(e).message };
      return this.ends.recordNeverRan(row, evidence, facts);
    }
    const { handle, origin } = launched;
    const { shares } = row;
    const life = new LiveMachine(handle, { evidence, egress, startedAtMs, origin, shares, driver: this.driver.name });
    this.adopt(row, life);
    await this.awaitReadiness(row, life, signal);
  }

  private async startUp(
    row: MachineEntity,
    { launch, source }: StartBase,
    { evidence, egress }: Pick<LiveMachine, 'evidence' | 'egress'>,
    signal: AbortSignal,
  ): Promise<LaunchedMachine> {
    const machine = row.machineId as MachineId;
    const { purpose, imageVersion: version } = row;
    const spec = machineSpecification(row, launch, this.paths, egress);
    // Nothing is done to the machine yet: what it can be cloned from is looked up while the action goes on record.
    const finding =
      source === null
        ? this.launcher.findTemplate(spec, { image: row.image, version, purpose })
        : Promise.resolve(null);
    finding.catch(() => undefined);
    await evidence.recordAction({ action: 'start', by: row.owner ?? 'caller', reason: row.purpose });
    const template = await finding;
    const { accelerator } = await abortable(this.accelerator.find(), signal, `the start of machine ${machine}`);
    const booting = { state: 'starting', reason: 'booting', message: 'the guest is booting', accelerator } as const;
    const refused = new AbortController();
    const begun = this.machines.change(machine, row.incarnation, ['requested'], booting).then((isBegun) => {
      if (!isBegun) throw kernelError('OPERATION_ABORTED', `machine ${machine} was ended before it was started`);
    });
    begun.catch((e: unknown) => refused.abort(e));
    const stop = AbortSignal.any([signal, refused.signal]);
    const launched = source === null ? this.launcher.launch(spec, template, stop) : this.copy(spec, source, stop);
    return this.bothDone(row, begun, launched);
  }

  /** The driver pauses the source and lets it go on. */
  private async copy(spec: VmSpec, { handle, evidence }: LiveMachine, signal: AbortSignal): Promise<LaunchedMachine> {
    try {
      return await this.launcher.copy(spec, handle, signal);
    } finally {
      await evidence.recordAction({ action: 'resume', by: 'vm-service', reason: `${spec.machineId} is made` });
    }
  }

  /** The machine, once it runs and its row says so; else nothing of it is left. Side by side: a clone takes no longer than its row. */
  private async bothDone<T>(row: MachineEntity, begun: Promise<void>, launched: Promise<T>): Promise<T> {
    const [told, machine] = await Promise.allSettled([begun, launched]);
    if (told.status === 'fulfilled' && machine.status === 'fulfilled') return machine.value;
    if (machine.status === 'fulfilled') {
      await this.driver.destroyInstance(this.paths.instance(row.machineId as MachineId, row.incarnation));
    }
    throw told.status === 'rejected' ? told.reason : (machine as PromiseRejectedResult).reason;
  }

  private adopt(row: MachineEntity, life: LiveMachine): void {
    const { machineId: machine } = life;
    this.live.set(machine, life);
    const ending = life.handle.exited
      .then((exit) => this.conclude(row, life, exit))
      .catch((e: unknown) => this.log.error(`the end of machine ${machine} could not be recorded`, e))
      .finally(() => {
        if (this.endings.get(machine) === ending) this.endings.delete(machine);
      });
    this.endings.set(machine, ending);
  }

  private async awaitReadiness(row: MachineEntity, life: LiveMachine, signal: AbortSignal): Promise<void> {
    const { machineId: machine, ended, origin } = life;
    const deadline = AbortSignal.timeout(this.config.bootTimeoutMs);
    let isAnswering = false;
    try {
      await life.whenAnswering(AbortSignal.any([signal, deadline, ended]));
      isAnswering = true;
      await connectGuest(row, life, AbortSignal.any([signal, ended]));
    } catch (e) {
      const why = isAnswering ? toDomainError(e).message : this.silence;
      if (ended.aborted || (await this.giveUp(life, signal, why))) await this.whenConcluded(machine);
      return;
    }
    const message = 'the guest agent answers';
    const { isEgressUp } = life;
    const ready = { state: 'ready', reason: 'ready', message, origin, isEgressUp, readyAt: new Date() } as const;
    await untilStored(() => this.machines.change(machine, row.incarnation, ['starting'], ready), {
      signal: AbortSignal.any([signal, ended]),
      onRetry: (e) => this.log.warn(`machine ${machine} is ready, but that is not recorded yet`, e),
    });
    this.follow(row, life);
  }

  private get silence(): string {
    return `no answer of the guest agent within ${this.config.bootTimeoutMs} ms`;
  }

  private follow({ incarnation }: MachineEntity, life: LiveMachine): void {
    const stopping = { state: 'ending', reason: 'init_stopping', message: 'init stops the system' } as const;
    void life.witness(() => this.machines.change(life.machineId, incarnation, ['ready', 'paused'], stopping));
  }

  /**
   * Ends a machine that did not become ready; false when it does not end. Whoever abandoned the start has put that on
   * record; a boot that takes too long is ended by us.
   */
  private async giveUp(life: LiveMachine, abandoned: AbortSignal, reason: string): Promise<boolean> {
    if (!abandoned.aborted) {
      await life.probe();
      await life.evidence.recordAction({ action: 'kill', by: 'vm-service', reason });
    }
    return this.stop(life);
  }

  /** False for a process that cannot be killed: it stays known here, and the next destroy tries again. Never rejects. */
  private async stop(life: LiveMachine): Promise<boolean> {
    // Its listeners go first: none may outlive it. Their records are waited for when it is gone.
    void life.egress.close();
    try {
      await life.handle.stop({ graceMs: 0 });
      return true;
    } catch (e) {
      this.log.error(`machine ${life.machineId} does not end`, e);
      return false;
    }
  }

  private async conclude(row: MachineEntity, life: LiveMachine, exit: VmExit): Promise<void> {
    const { machineId: machine } = life;
    if (this.live.get(machine) === life) this.live.delete(machine);
    // At once, because drawing the verdict can take a while on a slow disk, and nobody may take the machine for ready.
    const message = 'its process is gone; the verdict is being drawn';
    const gone = { state: 'ending', reason: 'process_gone', message } as const;
    const isShut = life.egress.close();
    const isTold = this.machines
      .change(machine, row.incarnation, LIVE_STATES, gone)
      .catch((e: unknown) => this.log.warn(`that machine ${machine} is gone is not recorded yet`, e));
    await this.ends.record(row, life.evidence, life.meta(exit), ({ account }) => ({
      message: life.lastSeenAtMs === null ? `${account} Last console lines: ${consoleOf(life)}` : account,
    }));
    await Promise.all([isTold, isShut]);
  }
}

const consoleOf = ({ handle }: LiveMachine): string =>
  printable(Buffer.from(handle.consoleTail(CONSOLE_TAIL_BYTES)).toString('latin1'), CONSOLE_TAIL_BYTES);
