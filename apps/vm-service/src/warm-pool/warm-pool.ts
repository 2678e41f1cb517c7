import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CPUS } from '@inquest/contracts-vm';
import { deadlineSignal, delay, hasCode, type MachineId } from '@inquest/kernel';
import { supportsTemplates, VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { ImageResolver } from '../machines/image-resolver';
import type { LiveMachine } from '../machines/live-machine';
import type { TemplateKey } from '../templates/template-store';
import { VmServiceConfig } from '../vm-service.config';
import { WarmMachines } from './warm-machines';
import { warmPoolTargets, type WarmPoolTarget } from './warm-pool-targets';

/** Between two looks at a pool that is full or cannot be filled: an image may have been frozen meanwhile. */
const LOOK_EVERY_MS = 10_000;
/** After a claim: its caller is answered before the next machine is made. */
const REFILL_PAUSE_MS = 25;
/** One machine, from its template to its agent's answer, on a crowded host. */
const MAKE_TIMEOUT_MS = 60_000;

/** A machine that is ready and nobody's yet. */
interface WarmMachine {
  readonly key: TemplateKey;
  readonly life: LiveMachine;
}

/**
 * Ready machines that wait for their callers. Each image has one filler that makes one machine at a time while there are
 * too few, so that the pool never exceeds its size; a claim takes what is there and makes nothing.
 */
@Injectable()
export class WarmPool implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(WarmPool.name);
  private readonly stopping = new AbortController();
  private readonly targets: readonly WarmPoolTarget[];
  private readonly waiting = new Map<MachineId, WarmMachine>();
  private readonly wakers = new Set<() => void>();
  private fillers: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    config: VmServiceConfig,
    private readonly images: ImageResolver,
    private readonly machines: WarmMachines,
  ) {
    this.targets = warmPoolTargets(config.warmPool);
  }

  onApplicationBootstrap(): void {
    if (this.targets.length === 0) return;
    if (!supportsTemplates(this.driver)) return this.log.warn(`the ${this.driver.name} driver can keep no warm pool`);
    this.fillers = Promise.all(this.targets.map((target) => this.keepFull(target)));
  }

  /** What nobody has claimed goes without a word: nobody knew it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('vm-service is stopping'));
    await this.fillers;
    await Promise.all([...this.waiting.values()].map((machine) => this.discard(machine)));
  }

  /** How many machines wait. */
  get count(): number {
    return this.waiting.size;
  }

  /**
   * A machine that is the caller's from now on, or null when none of that version and shape, with a screen or without, waits. Its place is filled
   * once the caller is served and says `refill`: a clone in the making takes the processor that the claim needs.
   */
  claim(key: TemplateKey, hasScreen: boolean): LiveMachine | null {
    for (const machine of this.waiting.values()) {
      if (machine.life.handle.capabilities.screenshot !== hasScreen) continue;
      if (!isSame(machine.key, key) || machine.life.ended.aborted) continue;
      this.waiting.delete(machine.life.machineId);
      return machine.life;
    }
    return null;
  }

  /** Makes new machines where some were claimed. */
  refill(): void {
    for (const wake of this.wakers) wake();
  }

  /** Ends a claimed machine that was not used after all. */
  release(life: LiveMachine): Promise<void> {
    return this.machines.remove(life);
  }

  /** Ends what waits on a version that nothing starts on any more. One that is being made meanwhile ends at the next look. */
  async discardOf({ image, version }: Pick<TemplateKey, 'image' | 'version'>): Promise<void> {
    const stale = this.waitingOn(image).filter(({ key }) => key.version === version);
    await Promise.all(stale.map((machine) => this.discard(machine)));
  }

  private waitingOn(image: string): WarmMachine[] {
    return [...this.waiting.values()].filter(({ key }) => key.image === image);
  }

  private async keepFull(target: WarmPoolTarget): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const isGrown = await this.grow(target).catch((e: unknown) => {
        if (!signal.aborted) this.log.warn(`the warm pool of ${target.image} is not filled`, e);
        return false;
      });
      if (!isGrown) await this.untilWoken();
    }
  }

  /** Makes one machine when there are too few. False when there was nothing to do, or nothing to make it of. */
  private async grow({ image, size }: WarmPoolTarget): Promise<boolean> {
    const launch = await this.images.resolve(image, null, 'session').catch(async (e: unknown) => {
      // Nothing else will take them away: no machine of this image is asked for any more.
      if (isGone(e)) await Promise.all(this.waitingOn(image).map((machine) => this.discard(machine)));
      throw e;
    });
    const { version, defaultMemoryMib: memoryMib } = launch.image;
    const key = { image, version, cpus: CPUS.default, memoryMib };
    const mine = this.waitingOn(image);
    const stale = mine.filter((machine) => !isSame(machine.key, key));
    await Promise.all(stale.map((machine) => this.discard(machine)));
    if (mine.length - stale.length >= size) return false;
    const life = await this.machines.make(key, launch, deadlineSignal(MAKE_TIMEOUT_MS, this.stopping.signal));
    if (life === null) return false;
    this.add({ key, life });
    return true;
  }

  private add(machine: WarmMachine): void {
    const { life } = machine;
    this.waiting.set(life.machineId, machine);
    // A claimed machine ends under the eyes of its owner.
    const isMine = (): boolean => this.waiting.get(life.machineId) === machine;
    void life.handle.exited.then(() => (isMine() ? this.discard(machine) : undefined));
  }

  private async discard(machine: WarmMachine): Promise<void> {
    this.waiting.delete(machine.life.machineId);
    await this.machines
      .remove(machine.life)
      .catch((e: unknown) => this.log.error(`warm machine ${machine.life.machineId} could not be removed`, e));
    this.refill();
  }

  private async untilWoken(): Promise<void> {
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.wakers.add(wake);
    const waited = new AbortController();
    try {
      const signal = AbortSignal.any([this.stopping.signal, waited.signal]);
      await Promise.race([woken, delay(LOOK_EVERY_MS, signal).catch(() => undefined)]);
      await delay(REFILL_PAUSE_MS, this.stopping.signal).catch(() => undefined);
    } finally {
      waited.abort();
      this.wakers.delete(wake);
    }
  }
}

/** No version of the image can be started, as opposed to: nobody knows at the moment. */
const isGone = (e: unknown): boolean =>
  ['IMAGE_UNKNOWN', 'IMAGE_NOT_FROZEN', 'IMAGE_CHANGED'].some((code) => hasCode(e, code));

const isSame = (a: TemplateKey, b: TemplateKey): boolean =>
  a.image === b.image && a.version === b.version && a.cpus === b.cpus && a.memoryMib === b.memoryMib;
