import { Inject, Injectable, Logger } from '@nestjs/common';
import type { MachineOrigin, StartPurpose } from '@inquest/contracts-vm';
import {
  cloneSpecOf,
  copySpecOf,
  requireTemplates,
  supportsCopies,
  VM_DRIVER,
  vmDriverError,
  type VmDriver,
  type VmHandle,
  type VmSpec,
  type VmTemplate,
} from '@inquest/vm-driver';
import { TemplateStore, type TemplateKey } from './template-store';

/** A machine that runs, and how it came to. */
export interface LaunchedMachine {
  readonly handle: VmHandle;
  readonly origin: MachineOrigin;
}

/** Brings machines up in the fastest way there is: as a clone where the version has a template for their shape. */
@Injectable()
export class MachineLauncher {
  private readonly log = new Logger(MachineLauncher.name);

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly templates: TemplateStore,
  ) {}

  /**
   * What a machine can be cloned from; null when it has to boot. A smoke boot is a boot, and so is a machine with shares or
   * a network, which no template has.
   */
  async findTemplate(
    { cpus, memoryMib, hasScreen = false, shares = [], network }: VmSpec,
    { image, version, purpose }: Pick<TemplateKey, 'image' | 'version'> & { readonly purpose: StartPurpose },
  ): Promise<VmTemplate | null> {
    if (purpose !== 'session' || shares.length > 0 || network !== undefined) return null;
    const template = await this.templates.find({ image, version, cpus, memoryMib });
    return template?.hasScreen === hasScreen ? template : null;
  }

  /**
   * Throws what `VmDriver.start` throws. A clone that fails is a reason to boot, and is logged; its agent has answered
   * when this resolves.
   */
  async launch(spec: VmSpec, template: VmTemplate | null, signal: AbortSignal): Promise<LaunchedMachine> {
    const clone = template === null ? null : await this.clone(spec, template, signal);
    if (clone !== null) return { handle: clone, origin: 'clone' };
    return { handle: await this.driver.start(spec, signal), origin: 'boot' };
  }

  /** A machine that goes on where another one of this driver stands now. Throws what `CopyDriver.copy` throws. */
  async copy(spec: VmSpec, source: VmHandle, signal: AbortSignal): Promise<LaunchedMachine> {
    const { machineId } = source;
    if (!supportsCopies(this.driver)) {
      throw vmDriverError('VM_CAPABILITY_MISSING', `the ${this.driver.name} driver copies no machines`, { machineId });
    }
    return { handle: await this.driver.copy(source, copySpecOf(spec), signal), origin: 'clone' };
  }

  private async clone(spec: VmSpec, template: VmTemplate, signal: AbortSignal): Promise<VmHandle | null> {
    try {
      return await requireTemplates(this.driver).clone(cloneSpecOf(spec, template), signal);
    } catch (e) {
      if (signal.aborted) throw e;
      this.log.warn(`machine ${spec.machineId} boots, because it could not be cloned: ${(e as Error).message}`);
      return null;
    }
  }
}
