import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { vmError, type NodeView } from '@inquest/contracts-vm';
import { VM_DRIVER, type HostCheck, type VmDriver } from '@inquest/vm-driver';
import { MachineLives } from '../machines/machine-lives';
import { VmServiceConfig } from '../vm-service.config';

const MIB = 1024 * 1024;
/** The probe of an accelerator boots a tiny guest; a hung KVM is given up on after a few seconds. */
const HOST_CHECK_TIMEOUT_MS = 60_000;

/** What this node is and what it has left. */
@Injectable()
export class NodeFacts {
  private check: Promise<HostCheck> | null = null;

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly lives: MachineLives,
  ) {}

  /** What runs the guests' instructions; found out once. A failure is tried again by the next caller. */
  accelerator(): Promise<HostCheck> {
    this.check ??= this.driver.checkHost(AbortSignal.timeout(HOST_CHECK_TIMEOUT_MS)).catch((e: unknown) => {
      this.check = null;
      throw e;
    });
    return this.check;
  }

  async describe(): Promise<NodeView> {
    const { accelerator, reason } = await this.accelerator();
    return {
      node: this.config.nodeId,
      driver: this.driver.name,
      accelerator,
      acceleratorReason: reason,
      memoryTotalMib: Math.floor(totalmem() / MIB),
      memoryAvailableMib: this.memoryAvailableMib(),
      liveMachines: this.lives.count,
    };
  }

  /** Throws `NODE_EXHAUSTED` when this node cannot hold `memoryMib` more. */
  requireMemory(memoryMib: number): void {
    const left = this.memoryAvailableMib();
    if (memoryMib <= left) return;
    throw vmError(
      'NODE_EXHAUSTED',
      `node ${this.config.nodeId} has ${left} MiB to spare, not the ${memoryMib} MiB asked for`,
      {
        node: this.config.nodeId,
        memoryMib,
        memoryAvailableMib: left,
      },
    );
  }

  /** What the kernel says can be given out without swapping (proc(5), MemAvailable), less the reserve. */
  private memoryAvailableMib(): number {
    const kib = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0);
    return Math.max(0, Math.floor(kib / 1024) - this.config.memoryReserveMib);
  }
}
