import { rm } from 'node:fs/promises';
import path from 'node:path';
import {
  checkInstanceDirectory,
  checkVmSpec,
  vmDriverError,
  type AdoptingDriver,
  type CopyDriver,
  type DestroyedInstance,
  type HostCheck,
  type ReapedInstance,
  type ShareDriver,
  type TemplateDriver,
  type VmAdoption,
  type VmCloneSpec,
  type VmCopySpec,
  type VmHandle,
  type VmSpec,
  type VmTemplate,
} from '@inquest/vm-driver';
import { checkReadable, HostCheckMemo, makeInstancesRoot, OwnedLives } from '@inquest/vm-instance';
import { insideOf } from './connections';
import { adoptMachine } from './adopt-machine';
import { checkHostOnce } from './host-check-cache';
import { instanceOfCommand } from './instance-command';
import { QemuMachine } from './qemu-machine';
import { compileQemuOptions, type CompiledQemuOptions, type QemuVmDriverOptions } from './qemu-options';
import { captureTemplate } from './capture-template';
import { launchMachine, type Launch } from './launch-machine';
import { copiedStateFile, copyLaunch, machineSpecOfCopy } from './copy-launch';
import { bootLaunch, cloneLaunch, machineSpecOf } from './machine-launches';
import { completeEvidence } from './resume-evidence';
import { readTemplateRecord, templateOf } from './template-record';

/** Bound on all probes together; each has its own deadline well below. */
const HOST_CHECK_MS = 120_000;

/** Machines as QEMU processes, under KVM where it works and software emulation where it does not. */
export class QemuVmDriver implements TemplateDriver, ShareDriver, CopyDriver, AdoptingDriver {
  readonly name = 'qemu';
  readonly capabilities = {
    templates: true,
    screenshots: true,
    input: true,
    serialShells: true,
    shares: true,
    networks: true,
    copies: true,
    adoption: true,
  } as const;
  private readonly options: CompiledQemuOptions;
  private readonly lives: OwnedLives<QemuMachine>;
  private readonly hostCheck: HostCheckMemo;

  /** Starts nothing. Throws `VM_HOST_UNSUPPORTED` for a `qemuUser` that this process cannot become. */
  constructor(options: QemuVmDriverOptions) {
    const instancesRoot = path.resolve(options.instancesRoot);
    this.options = compileQemuOptions({ ...options, instancesRoot }, process.getuid?.() ?? 0);
    this.lives = new OwnedLives(instancesRoot, instanceOfCommand, completeEvidence);
    this.hostCheck = new HostCheckMemo(this.options.qemuBinary, () => this.findHostCheck());
  }

  checkHost(signal: AbortSignal): Promise<HostCheck> {
    return this.hostCheck.get(signal);
  }

  async start(spec: VmSpec, signal: AbortSignal): Promise<VmHandle> {
    checkVmSpec(spec, this.options.instancesRoot);
    return this.own(spec, signal, async () => bootLaunch(spec, this.options));
  }

  async openTemplate(directory: string, signal: AbortSignal): Promise<VmTemplate> {
    return templateOf(directory, await readTemplateRecord(directory, await this.checkHost(signal)));
  }

  async clone(cloneSpec: VmCloneSpec, signal: AbortSignal): Promise<VmHandle> {
    return this.own(cloneSpec, signal, async () => {
      const { directory } = cloneSpec.template;
      const spec = machineSpecOf(cloneSpec, await readTemplateRecord(directory, await this.checkHost(signal)));
      checkVmSpec(spec, this.options.instancesRoot);
      return cloneLaunch(spec, directory, this.options);
    });
  }

  async captureTemplate(machine: VmHandle, directory: string, signal: AbortSignal): Promise<VmTemplate> {
    const isCapturable = machine instanceof QemuMachine && !machine.hasEnded && machine.canBecomeTemplate;
    if (!isCapturable) {
      const { machineId } = machine;
      throw vmDriverError('VM_MACHINE_UNCAPTURABLE', `machine ${machineId} cannot become a template`, { machineId });
    }
    const host = await this.checkHost(signal);
    return captureTemplate(machine, directory, { options: this.options, host }, signal);
  }

  async copy(source: VmHandle, copySpec: VmCopySpec, signal: AbortSignal): Promise<VmHandle> {
    const machine = requireCopyable(source);
    const spec = machineSpecOfCopy(copySpec, machine.spec);
    checkVmSpec(spec, this.options.instancesRoot);
    const copy = await this.own(spec, signal, async () => copyLaunch(spec, machine, this.options));
    // Else it goes with the instance.
    await rm(copiedStateFile(spec.directory), { force: true }).catch(() => undefined);
    return copy;
  }

  async adopt(machine: VmAdoption, signal: AbortSignal): Promise<VmHandle> {
    checkInstanceDirectory(machine.directory, this.options.instancesRoot);
    return this.lives.start(machine, signal, (ending) => adoptMachine(machine, this.options.instancesRoot, ending));
  }

  checkShare(directory: string): Promise<void> {
    return checkReadable(insideOf(directory), this.options.qemuUser);
  }

  async destroyInstance(directory: string): Promise<DestroyedInstance> {
    return this.lives.destroy(directory);
  }

  async reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]> {
    return this.lives.reapOrphans(signal);
  }

  private async findHostCheck(): Promise<HostCheck> {
    await makeInstancesRoot(this.options.instancesRoot);
    return checkHostOnce(this.options, AbortSignal.timeout(HOST_CHECK_MS));
  }

  /** Brings a machine up as one of this driver's lives. */
  private async own(
    place: Pick<VmSpec, 'directory' | 'machineId'>,
    signal: AbortSignal,
    plan: () => Promise<Launch>,
  ): Promise<VmHandle> {
    return this.lives.start(place, signal, async (ending) => {
      const host = await this.checkHost(ending);
      return launchMachine(await plan(), { options: this.options, host }, ending);
    });
  }
}

function requireCopyable(source: VmHandle): QemuMachine {
  const { machineId } = source;
  const isMine = source instanceof QemuMachine && !source.hasEnded;
  const why = isMine ? source.whyTied : 'it does not run here';
  if (isMine && why === null) return source;
  throw vmDriverError('VM_MACHINE_UNCAPTURABLE', `machine ${machineId} cannot be copied: ${why}`, { machineId });
}
