import { rm } from 'node:fs/promises';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { cutText } from '@inquest/contracts-base';
import {
  vmError,
  type MakeTemplateRequest,
  type RemovedTemplatesView,
  type RemoveTemplatesRequest,
  type TemplateStateRequest,
  type TemplateStateView,
  type TemplateView,
} from '@inquest/contracts-vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { deadlineSignal, KeyedQueue, newMachineId, toDomainError, type MachineId, type NodeId } from '@inquest/kernel';
import {
  requireTemplates,
  supportsTemplates,
  VM_DRIVER,
  type TemplateDriver,
  type VmDriver,
  type VmSpec,
} from '@inquest/vm-driver';
import { ImageResolver, type LaunchableImage } from '../machines/image-resolver';
import { MachinePaths } from '../machines/machine-paths';
import { machineSpecification } from '../machines/machine-specification';
import { VmServiceConfig } from '../vm-service.config';
import { guestAtRest } from './guest-at-rest';
import { TemplateStore, type TemplateKey } from './template-store';

/** `TemplateStateView.detail` takes no more. */
const DETAIL_MAX_CHARS = 2048;
/** Saving the memory of a guest on a slow disk. */
const CAPTURE_TIMEOUT_MS = 120_000;
/** What clones are called until they are given their own name, within the same breath. */
const TEMPLATE_HOSTNAME = 'template';

/** Each clone is given the ways out that it has itself. */
const NO_EGRESS = { kernelArguments: [], listeners: [] };

/** Makes templates: boots a machine that nobody else sees, waits until it has nothing to do, and captures it. */
@Injectable()
export class TemplateMaker implements BeforeApplicationShutdown {
  private readonly log = new Logger(TemplateMaker.name);
  private readonly stopping = new AbortController();
  private readonly queue = new KeyedQueue();
  /** The one that is being made. */
  private making: TemplateKey | null = null;

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly images: ImageResolver,
    private readonly paths: MachinePaths,
    private readonly store: TemplateStore,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('vm-service is stopping'));
  }

  /**
   * The template of a frozen version, made now unless it is there. Throws what the image check throws,
   * `MACHINE_CAPABILITY_MISSING` when the driver has no templates, and `TEMPLATE_NOT_MADE`; nothing is left then but the
   * evidence of the machine that was to be captured, which the message names.
   */
  async make({ image, version, cpus, memoryMib }: MakeTemplateRequest): Promise<TemplateView> {
    if (!supportsTemplates(this.driver)) {
      throw vmError('MACHINE_CAPABILITY_MISSING', `the ${this.driver.name} driver has no templates`);
    }
    const launch = await this.images.resolve(image, version, 'session');
    const key = { image, version, cpus, memoryMib: memoryMib ?? launch.image.defaultMemoryMib };
    // One at a time on the whole node: each boots a machine, and nobody waits for a template.
    return this.queue.run('', async () => {
      const isNew = (await this.store.find(key)) === null;
      if (isNew) await this.makeNow(key, launch);
      return { node: this.config.nodeId, ...key, isNew };
    });
  }

  /** How a template stands on this node. */
  async stateOf(key: TemplateStateRequest): Promise<TemplateStateView> {
    const { image, version, cpus, memoryMib } = key;
    const { making } = this;
    const isMaking =
      making?.image === image && making.version === version && making.cpus === cpus && making.memoryMib === memoryMib;
    const found = isMaking ? ({ state: 'making', detail: '' } as const) : await this.store.stateOf(key);
    return { node: this.config.nodeId, state: found.state, detail: cutText(found.detail, DETAIL_MAX_CHARS) };
  }

  /** Removes the templates of a version, behind one that is being made. */
  remove({ image, version }: RemoveTemplatesRequest): Promise<RemovedTemplatesView> {
    return this.queue.run('', async () => {
      await this.store.removeOf({ image, version });
      return { node: this.config.nodeId };
    });
  }

  private async makeNow(key: TemplateKey, launch: LaunchableImage): Promise<void> {
    const started = performance.now();
    const machineId = newMachineId(this.config.nodeId as NodeId);
    const spec = this.specification(machineId, key, launch);
    const driver = requireTemplates(this.driver);
    this.making = key;
    try {
      await this.capture(driver, spec, await this.store.prepare(key));
      await rm(this.paths.evidenceOf(machineId), { recursive: true, force: true });
    } catch (e) {
      const { message } = toDomainError(e);
      const what = `no template of ${key.image}:${key.version}: ${message} (evidence: ${machineId})`;
      throw vmError('TEMPLATE_NOT_MADE', what, { image: key.image, version: key.version, machine: machineId }, e);
    } finally {
      this.making = null;
      await driver.destroyInstance(spec.directory);
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    this.log.log(`made the template of ${key.image}:${key.version} (${key.memoryMib} MiB) in ${seconds} s`);
  }

  private async capture(driver: TemplateDriver, spec: VmSpec, directory: string): Promise<void> {
    const machine = await driver.start(spec, this.stopping.signal);
    const booted = deadlineSignal(this.config.bootTimeoutMs, this.stopping.signal);
    const agent = new GuestAgentClient(machine.link);
    await agent.ping({ signal: booted, deadlineMs: this.config.bootTimeoutMs });
    await guestAtRest(agent, booted);
    await driver.captureTemplate(machine, directory, deadlineSignal(CAPTURE_TIMEOUT_MS, this.stopping.signal));
  }

  private specification(machineId: MachineId, { cpus, memoryMib }: TemplateKey, launch: LaunchableImage): VmSpec {
    const { hasScreen } = launch.image;
    const row = {
      machineId,
      incarnation: 1,
      name: TEMPLATE_HOSTNAME,
      cpus,
      memoryMib,
      hasScreen,
      rtcBase: null,
      shares: [],
      peer: null,
    };
    return { ...machineSpecification(row, launch, this.paths, NO_EGRESS), isCapturable: true };
  }
}
