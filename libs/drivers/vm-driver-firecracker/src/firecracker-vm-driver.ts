import path from 'node:path';
import type { DestroyedInstance, HostCheck, ReapedInstance, VmDriver, VmHandle, VmSpec } from '@inquest/vm-driver';
import { HostCheckMemo, makeInstancesRoot, OwnedLives } from '@inquest/vm-instance';
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
  private readonly hostCheck: HostCheckMemo;

  /** Starts nothing. Throws `VM_HOST_UNSUPPORTED` for a `monitorUser` that this process cannot become. */
  constructor(options: FirecrackerVmDriverOptions) {
    const instancesRoot = path.resolve(options.instancesRoot);
    this.options = compileFirecrackerOptions({ ...options, instancesRoot }, process.getuid?.() ?? 0);
    this.lives = new OwnedLives(instancesRoot, instanceOfCommand);
    this.hostCheck = new HostCheckMemo(this.options.firecrackerBinary, () =>
      probeHost(this.options, AbortSignal.timeout(HOST_CHECK_MS)),
    );
  }

  checkHost(signal: AbortSignal): Promise<HostCheck> {
    return this.hostCheck.get(signal);
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
}
