import path from 'node:path';
import { abortable } from '@inquest/kernel';
import type { DestroyedInstance, HostCheck, ReapedInstance, VmDriver, VmHandle, VmSpec } from '@inquest/vm-driver';
import { makeInstancesRoot, OwnedLives } from '@inquest/vm-instance';
import { checkFirecrackerSpec } from './check-firecracker-spec';
import type { FirecrackerMachine } from './firecracker-machine';
import {
  compileFirecrackerOptions,
  type CompiledFirecrackerOptions,
  type FirecrackerVmDriverOptions,
} from './firecracker-options';
import { probeHost } from './host-probe';
import { instanceOfCommand } from './instance-command';
import { launchMicrovm } from './launch-microvm';

/** Bound on the whole probe; each part has its own deadline well below. */
const HOST_CHECK_MS = 60_000;

/**
 * Machines as Firecracker processes, without its API: one configuration file each. It needs KVM, takes raw disks and
 * `rtcBaseMs` null only (`VM_CAPABILITY_MISSING` otherwise), and has no templates, screens or input.
 */
export class FirecrackerVmDriver implements VmDriver {
  readonly name = 'firecracker';
  readonly capabilities = { templates: false, screenshots: false, input: false } as const;
  private readonly options: CompiledFirecrackerOptions;
  private readonly lives: OwnedLives<FirecrackerMachine>;
  private hostCheck: Promise<HostCheck> | null = null;

  /** Starts nothing. Throws `VM_HOST_UNSUPPORTED` for a `monitorUser` that this process cannot become. */
  constructor(options: FirecrackerVmDriverOptions) {
    const instancesRoot = path.resolve(options.instancesRoot);
    this.options = compileFirecrackerOptions({ ...options, instancesRoot }, process.getuid?.() ?? 0);
    this.lives = new OwnedLives(instancesRoot, instanceOfCommand);
  }

  /** One probe serves all callers, and goes on for the others when one gives up. */
  async checkHost(signal: AbortSignal): Promise<HostCheck> {
    this.hostCheck ??= this.findHostCheck();
    return abortable(this.hostCheck, signal, 'the host check');
  }

  async start(spec: VmSpec, signal: AbortSignal): Promise<VmHandle> {
    checkFirecrackerSpec(spec, this.options.instancesRoot);
    return this.lives.start(spec, signal, async (ending) => {
      await this.checkHost(ending);
      await makeInstancesRoot(this.options.instancesRoot);
      return launchMicrovm(spec, this.options, ending);
    });
  }

  async destroyInstance(directory: string): Promise<DestroyedInstance> {
    return this.lives.destroy(directory);
  }

  async reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]> {
    return this.lives.reapOrphans(signal);
  }

  private async findHostCheck(): Promise<HostCheck> {
    try {
      return await probeHost(this.options, AbortSignal.timeout(HOST_CHECK_MS));
    } catch (e) {
      this.hostCheck = null;
      throw e;
    }
  }
}
