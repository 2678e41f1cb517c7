import { rm } from 'node:fs/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { MachineId, NodeId } from '@inquest/kernel';
import { VM_DRIVER, type ReapedInstance, type VmDriver } from '@inquest/vm-driver';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { VmServiceConfig } from '../vm-service.config';
import { MachineEnds } from './machine-ends';
import { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';
import { MachinesRepository } from './machines.repository';

const REAP_TIMEOUT_MS = 10_000;
const NOTE = 'vm-service was not there when this machine ended, so its last events may be missing';

/**
 * Ends, with a verdict, whatever an earlier life of this service left: processes, overlays, sockets, rows. Done before
 * the service answers anything.
 */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  private readonly log = new Logger(Recovery.name);

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly ends: MachineEnds,
    private readonly paths: MachinePaths,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const unfinished = await this.machines.unfinished(this.config.nodeId as NodeId);
    const left = unfinished.map((row) => ({
      row,
      evidence: new EvidenceBundle(this.paths.evidence(row.machineId as MachineId, row.incarnation)),
    }));
    // On record before the reaping: a kill of ours must not look like a stranger's.
    const action = { action: 'reap', by: 'vm-service', reason: 'restart of vm-service' } as const;
    await Promise.all(left.map(({ evidence }) => evidence.recordAction(action)));
    const reaped = await this.driver.reapOrphans(AbortSignal.timeout(REAP_TIMEOUT_MS));
    for (const found of reaped) this.log.warn(`reaped ${found.directory} (pid ${found.pid ?? 'none'})`);
    // No machine has survived, so no socket between machines is of use.
    await rm(this.paths.networksRoot, { recursive: true, force: true });
    for (const { row, evidence } of left) await this.conclude(row, evidence, reaped);
  }

  private async conclude(
    row: MachineEntity,
    evidence: EvidenceBundle,
    reaped: readonly ReapedInstance[],
  ): Promise<void> {
    const found = reaped.find((r) => r.machineId === row.machineId && r.incarnation === row.incarnation);
    if (found?.observedGone === false) {
      this.log.error(`machine ${row.machineId} does not end: its process ${found.pid} could not be killed`);
      return;
    }
    const wasRunning = found?.pid != null;
    const atMs = Date.now();
    const meta = {
      formatVersion: 1,
      machineId: row.machineId,
      incarnation: row.incarnation,
      driver: this.driver.name,
      startedAtMs: row.createdAt.getTime(),
      observedAtMs: atMs,
      // Not our child any more: how a process ended that was already gone is not known.
      exit: { code: null, signal: wasRunning ? 'SIGKILL' : null, atMs },
      stderrTail: '',
      serial: { totalBytes: 0, droppedBytes: 0 },
      recorder: { attachedBeforeBoot: true, lost: true, note: NOTE },
    } as const;
    await this.ends.record(row, evidence, meta, ({ account }) => ({ message: account }));
  }
}
