import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { vmError, type NodeView } from '@inquest/contracts-vm';
import { VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { MachineLives } from '../machines/machine-lives';
import { VmServiceConfig } from '../vm-service.config';
import { WarmPool } from '../warm-pool/warm-pool';
import { HostAccelerator } from './host-accelerator';

const MIB = 1024 * 1024;
const PROBING = { accelerator: 'probing', reason: 'what this host can run is still being found out' } as const;

/** What this node is and what it has left. */
@Injectable()
export class NodeFacts {
  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly lives: MachineLives,
    private readonly accelerator: HostAccelerator,
    private readonly pool: WarmPool,
  ) {}

  /** Answers at once, also while the accelerator is being probed: whoever gathers nodes waits a second at most. */
  async describe(): Promise<NodeView> {
    const { accelerator, reason } = this.accelerator.known ?? PROBING;
    return {
      node: this.config.nodeId,
      driver: this.driver.name,
      accelerator,
      acceleratorReason: reason,
      memoryTotalMib: Math.floor(totalmem() / MIB),
      memoryAvailableMib: await this.memoryAvailableMib(),
      liveMachines: this.lives.count,
      warmMachines: this.pool.count,
    };
  }

  /** Throws `NODE_EXHAUSTED` when this node cannot hold `memoryMib` more. */
  async requireMemory(memoryMib: number): Promise<void> {
    const left = await this.memoryAvailableMib();
    if (memoryMib <= left) return;
    throw vmError(
      'NODE_EXHAUSTED',
      `node ${this.config.nodeId} has ${left} MiB to spare, not the ${memoryMib} MiB asked for`,
      { node: this.config.nodeId, memoryMib, memoryAvailableMib: left },
    );
  }

  /**
   * What the kernel says can be given out without swapping (proc(5), MemAvailable), less the reserve and less what was
   * promised to machines that are being started: their guests have not touched it yet.
   */
  private async memoryAvailableMib(): Promise<number> {
    const kib = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1] ?? 0);
    return Math.max(0, Math.floor(kib / 1024) - this.config.memoryReserveMib - this.lives.promisedMib);
  }
}
