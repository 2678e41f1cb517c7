import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { abortable, hasCode, ID_PATTERN } from '@inquest/kernel';
import {
  checkInstanceDirectory,
  checkVmSpec,
  vmDriverError,
  type CopyDriver,
  type DestroyedInstance,
  type HostCheck,
  type ReapedInstance,
  type ShareDriver,
  type TemplateDriver,
  type VmCloneSpec,
  type VmCopySpec,
  type VmHandle,
  type VmSpec,
  type VmTemplate,
} from '@inquest/vm-driver';
import { endInstance, endUnownedInstance } from './destroy-instance';
import { insideOf } from './connections';
import { checkReadable } from './file-access';
import { checkHostOnce } from './host-check-cache';
import { makeInstancesRoot, removeInstanceDirectory } from './instance-directory';
import { findInstanceProcesses } from './process-scan';
import { QemuMachine } from './qemu-machine';
import { compileQemuOptions, type CompiledQemuOptions, type QemuVmDriverOptions } from './qemu-options';
import { captureTemplate } from './capture-template';
import { launchMachine, type Launch } from './launch-machine';
import { copiedStateFile, copyLaunch, machineSpecOfCopy } from './copy-launch';
import { bootLaunch, cloneLaunch, machineSpecOf } from './machine-launches';
import { readTemplateRecord, templateOf } from './template-record';

/** Bound on all probes together; each has its own deadline well below. */
const HOST_CHECK_MS = 120_000;

/** A life that this driver owns: being started, running, or ended and not yet destroyed. */
interface OwnedLife {
  readonly abort: AbortController;
  readonly started: Promise<QemuMachine>;
}

/** Machines as QEMU processes, under KVM where it works and software emulation where it does not. */
export class QemuVmDriver implements TemplateDriver, ShareDriver, CopyDriver {
  readonly name = 'qemu';
  readonly capabilities = {
    templates: true,
    screenshots: true,
    input: true,
    shares: true,
    networks: true,
    copies: true,
  } as const;
  private readonly options: CompiledQemuOptions;
  private readonly lives = new Map<string, OwnedLife>();
  private hostCheck: Promise<HostCheck> | null = null;

  /** Starts nothing. Throws `VM_HOST_UNSUPPORTED` for a `qemuUser` that this process cannot become. */
  constructor(options: QemuVmDriverOptions) {
    this.options = compileQemuOptions(
      { ...options, instancesRoot: path.resolve(options.instancesRoot) },
      process.getuid?.() ?? 0,
    );
  }

  /** One probe serves all callers, and goes on for the others when one gives up. */
  async checkHost(signal: AbortSignal): Promise<HostCheck> {
    this.hostCheck ??= this.findHostCheck();
    return abortable(this.hostCheck, signal, 'the host check');
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

  checkShare(directory: string): Promise<void> {
    return checkReadable(insideOf(directory), this.options.qemuUser);
  }

  async destroyInstance(directory: string): Promise<DestroyedInstance> {
    const { instancesRoot } = this.options;
    checkInstanceDirectory(directory, instancesRoot);
    const life = this.lives.get(directory);
    if (life === undefined) return (await endUnownedInstance(directory, instancesRoot)).destroyed;
    life.abort.abort();
    const machine = await life.started.catch(() => null);
    const signalled = machine !== null && !machine.hasEnded;
    const killed = machine === null || (await isStopped(machine));
    if (!killed) return { killed, signalled, directoryRemoved: false };
    const directoryRemoved = await removeInstanceDirectory(directory);
    this.lives.delete(directory);
    return { killed, signalled, directoryRemoved };
  }

  async reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]> {
    const { instancesRoot } = this.options;
    await makeInstancesRoot(instancesRoot);
    const processes = await findInstanceProcesses(instancesRoot);
    const directories = new Set(await instanceDirectories(instancesRoot));
    for (const { directory } of processes) directories.add(directory);
    const orphans = [...directories].filter((directory) => !this.lives.has(directory));
    const ended = orphans.map((orphan) =>
      endInstance(
        orphan,
        processes.filter(({ directory }) => directory === orphan),
      ),
    );
    return (await abortable(Promise.all(ended), signal, 'reaping')).map(({ reaped }) => reaped);
  }

  private async findHostCheck(): Promise<HostCheck> {
    try {
      await makeInstancesRoot(this.options.instancesRoot);
      return await checkHostOnce(this.options, AbortSignal.timeout(HOST_CHECK_MS));
    } catch (e) {
      this.hostCheck = null;
      throw e;
    }
  }

  /** Brings a machine up as one of this driver's lives. */
  private async own(
    { directory, machineId }: Pick<VmSpec, 'directory' | 'machineId'>,
    signal: AbortSignal,
    plan: () => Promise<Launch>,
  ): Promise<VmHandle> {
    if (this.lives.has(directory)) {
      throw vmDriverError('VM_INSTANCE_EXISTS', `machine ${machineId} has an instance already in ${directory}`, {
        machineId,
      });
    }
    const abort = new AbortController();
    const started = this.launch(plan, AbortSignal.any([signal, abort.signal]));
    this.lives.set(directory, { abort, started });
    try {
      return await started;
    } catch (e) {
      this.lives.delete(directory);
      throw e;
    }
  }

  private async launch(plan: () => Promise<Launch>, signal: AbortSignal): Promise<QemuMachine> {
    const host = await this.checkHost(signal);
    return launchMachine(await plan(), { options: this.options, host }, signal);
  }
}

function requireCopyable(source: VmHandle): QemuMachine {
  const { machineId } = source;
  const isMine = source instanceof QemuMachine && !source.hasEnded;
  const why = isMine ? source.whyTied : 'it does not run here';
  if (isMine && why === null) return source;
  throw vmDriverError('VM_MACHINE_UNCAPTURABLE', `machine ${machineId} cannot be copied: ${why}`, { machineId });
}

async function isStopped(machine: QemuMachine): Promise<boolean> {
  try {
    await machine.stop({ graceMs: 0 });
    return true;
  } catch (e) {
    if (hasCode(e, 'VM_PROCESS_UNKILLABLE')) return false;
    throw e;
  }
}

/** Directories below the root that can be instances; links and files are nobody's instance. */
async function instanceDirectories(instancesRoot: string): Promise<string[]> {
  const entries = await readdir(instancesRoot, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && ID_PATTERN.test(entry.name))
    .map((entry) => path.join(instancesRoot, entry.name));
}
