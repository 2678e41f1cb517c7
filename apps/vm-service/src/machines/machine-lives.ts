import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { MachineState } from '@inquest/contracts-vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { isDomainError, toDomainError, withDeadline, type MachineId } from '@inquest/kernel';
import { printable } from '@inquest/verdict-engine';
import { VM_DRIVER, type VmDriver, type VmExit, type VmHandle } from '@inquest/vm-driver';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import { VmServiceConfig } from '../vm-service.config';
import type { LaunchableImage } from './image-resolver';
import { LiveMachine } from './live-machine';
import { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';
import { MachinesRepository } from './machines.repository';

/** From the request to the guest's first instruction: files and processes, no guest code. */
const START_TIMEOUT_MS = 60_000;
const CONSOLE_TAIL_BYTES = 2048;
/** Reading the evidence of a machine that talked a lot, on a slow disk. */
const CONCLUDE_TIMEOUT_MS = 10_000;

interface Birth {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** The incarnations that run in this process, from the driver's start to the verdict. */
@Injectable()
export class MachineLives implements OnApplicationShutdown {
  private readonly log = new Logger(MachineLives.name);
  private readonly live = new Map<MachineId, LiveMachine>();
  private readonly births = new Map<MachineId, Birth>();
  private readonly endings = new Map<MachineId, Promise<void>>();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly paths: MachinePaths,
  ) {}

  /** The running incarnation of a machine, or null. */
  find(machine: MachineId): LiveMachine | null {
    return this.live.get(machine) ?? null;
  }

  /** How many machines run or are being started. */
  get count(): number {
    return new Set([...this.live.keys(), ...this.births.keys()]).size;
  }

  /** Starts an incarnation in the background. The row says how it goes: `ready`, or `ended` with the reason. */
  begin(row: MachineEntity, launch: LaunchableImage): void {
    const machine = row.machineId as MachineId;
    const controller = new AbortController();
    const done = this.bear(row, launch, controller.signal)
      .catch((e: unknown) => this.log.error(`machine ${machine} could not be started`, e))
      .finally(() => this.births.delete(machine));
    this.births.set(machine, { controller, done });
  }

  /** Gives up a start that is under way and waits until nothing of it is left. */
  async abandonBirth(machine: MachineId, why: string): Promise<void> {
    const birth = this.births.get(machine);
    birth?.controller.abort(new Error(why));
    await birth?.done;
  }

  /** Resolves when the verdict of a machine that ends or has ended in this process is stored, or after `withinMs`. */
  async whenConcluded(machine: MachineId, withinMs = CONCLUDE_TIMEOUT_MS): Promise<void> {
    const ending = this.endings.get(machine) ?? Promise.resolve();
    await withDeadline(ending, withinMs, 'the verdict').catch(() => undefined);
  }

  /** A service that stops takes its machines with it: what nobody watches has no honest account. */
  async onApplicationShutdown(): Promise<void> {
    const stops = [...this.live.values()].map(async ({ evidence, handle }) => {
      await evidence.recordAction({ action: 'kill', by: 'vm-service', reason: 'vm-service is stopping' });
      await handle.stop({ graceMs: 0 });
    });
    for (const { controller } of this.births.values()) controller.abort(new Error('vm-service is stopping'));
    await Promise.allSettled([...stops, ...[...this.births.values()].map(({ done }) => done)]);
    await Promise.allSettled([...this.endings.values()]);
  }

  private async bear(row: MachineEntity, launch: LaunchableImage, signal: AbortSignal): Promise<void> {
    const machine = row.machineId as MachineId;
    const evidence = new EvidenceBundle(this.paths.evidence(machine, row.incarnation));
    const startedAtMs = Date.now();
    try {
      await evidence.recordAction({ action: 'start', by: row.owner ?? 'caller', reason: row.purpose });
      await this.set(row, 'starting', 'booting', 'the guest is booting');
      const handle = await this.driver.start(this.specification(row, launch), signal);
      const life = this.adopt(row, handle, evidence, startedAtMs);
      await this.awaitReadiness(row, life, signal);
    } catch (e) {
      const error = toDomainError(e);
      if (!isDomainError(e) && !signal.aborted) this.log.error(`machine ${machine}: the start failed`, e);
      // A machine that did start ends through its handle, with a verdict; this is for those that never ran.
      if (!this.live.has(machine)) await this.neverRan(row, evidence, startedAtMs, error.message);
    }
  }

  private adopt(row: MachineEntity, handle: VmHandle, evidence: EvidenceBundle, startedAtMs: number): LiveMachine {
    const machine = row.machineId as MachineId;
    const agent = new GuestAgentClient(handle.link);
    const life = new LiveMachine(machine, row.incarnation, handle, agent, evidence, startedAtMs, this.driver.name);
    this.live.set(machine, life);
    const ending = handle.exited.then((exit) => this.conclude(row, life, exit));
    this.endings.set(
      machine,
      ending.catch((e: unknown) => this.log.error(`the end of machine ${machine} could not be recorded`, e)),
    );
    return life;
  }

  private async awaitReadiness(row: MachineEntity, life: LiveMachine, signal: AbortSignal): Promise<void> {
    const deadline = AbortSignal.timeout(this.config.bootTimeoutMs);
    const ended = new AbortController();
    void life.handle.exited.then(() => ended.abort(new Error('the machine ended')));
    try {
      await life.whenAnswering(AbortSignal.any([signal, deadline, ended.signal]));
    } catch (e) {
      if (!ended.signal.aborted) await this.stopUnready(life, signal.aborted ? 'start abandoned' : 'boot deadline');
      await this.endings.get(life.machineId);
      throw e;
    }
    await this.set(row, 'ready', 'ready', 'the guest agent answers', { readyAt: new Date() });
    void life.witness(() => this.set(row, 'ending', 'init_stopping', 'init stops the system'));
  }

  private async stopUnready(life: LiveMachine, reason: string): Promise<void> {
    await life.probe();
    await life.evidence.recordAction({ action: 'kill', by: 'vm-service', reason });
    await life.handle.stop({ graceMs: 0 });
  }

  private async conclude(row: MachineEntity, life: LiveMachine, exit: VmExit): Promise<void> {
    const { machineId: machine } = life;
    const verdict = await life.evidence.conclude(life.meta(exit));
    if (this.live.get(machine) === life) this.live.delete(machine);
    const isBoot = (await this.machines.get(machine)).readyAt === null;
    const message = isBoot ? `${verdict.account} Last console lines: ${this.consoleOf(life)}` : verdict.account;
    await this.set(row, 'ended', verdict.class, message, { verdict: verdictView(verdict), endedAt: new Date() });
  }

  /** The driver left nothing behind; the account says that there never was a machine, and why. */
  private async neverRan(
    row: MachineEntity,
    evidence: EvidenceBundle,
    startedAtMs: number,
    message: string,
  ): Promise<void> {
    const atMs = Date.now();
    const verdict = await evidence.conclude({
      formatVersion: 1,
      machineId: row.machineId,
      incarnation: row.incarnation,
      driver: this.driver.name,
      startedAtMs,
      observedAtMs: atMs,
      exit: { code: null, signal: null, atMs },
      stderrTail: message,
      serial: { totalBytes: 0, droppedBytes: 0 },
      recorder: { attachedBeforeBoot: true, lost: false, note: 'the driver could not start the machine' },
    });
    await this.set(row, 'ended', 'start_failed', message, { verdict: verdictView(verdict), endedAt: new Date(atMs) });
  }

  private async set(
    row: MachineEntity,
    state: MachineState,
    reason: string,
    message: string,
    more: Partial<MachineEntity> = {},
  ): Promise<void> {
    await this.machines.change(row.machineId as MachineId, row.incarnation, { state, reason, message, ...more });
  }

  private consoleOf(life: LiveMachine): string {
    return printable(Buffer.from(life.handle.consoleTail(CONSOLE_TAIL_BYTES)).toString('latin1'), CONSOLE_TAIL_BYTES);
  }

  private specification(row: MachineEntity, { image, files }: LaunchableImage) {
    const machineId = row.machineId as MachineId;
    return {
      machineId,
      incarnation: row.incarnation,
      directory: this.paths.instance(machineId, row.incarnation),
      evidenceDirectory: this.paths.evidence(machineId, row.incarnation),
      cpus: row.cpus,
      memoryMib: row.memoryMib,
      boot: { kernelPath: files.kernelPath, initramfsPath: files.initramfsPath, commandLine: image.kernelArguments },
      disk: { basePath: files.diskPath, baseFormat: files.diskFormat },
      rtcBaseMs: null,
      hostname: hostname(row),
      listeners: [],
      limits: { startTimeoutMs: START_TIMEOUT_MS, overlayBytes: null },
    };
  }
}

/** RFC 1123: letters, digits and inner dashes, 63 at most. */
const hostname = ({ name, machineId }: MachineEntity): string =>
  (name ?? machineId)
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63) || 'machine';
