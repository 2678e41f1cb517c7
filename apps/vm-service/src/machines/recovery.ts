import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { MachineId, NodeId } from '@inquest/kernel';
import { VM_DRIVER, type ReapedInstance, type VmDriver } from '@inquest/vm-driver';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import { VmServiceConfig } from '../vm-service.config';
import { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';
import { MachinesRepository } from './machines.repository';

const REAP_TIMEOUT_MS = 10_000;
const NOTE = 'vm-service was not running when this machine ended, so its last events may be missing';

/** Ends, with a verdict, whatever an earlier life of this service left: processes, overlays, sockets, rows. */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  private readonly log = new Logger(Recovery.name);

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly paths: MachinePaths,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const unfinished = await this.machines.unfinished(this.config.nodeId as NodeId);
    for (const row of unfinished) await this.announce(row);
    const reaped = await this.driver.reapOrphans(AbortSignal.timeout(REAP_TIMEOUT_MS));
    for (const found of reaped) this.log.warn(`reaped ${found.directory} (pid ${found.pid ?? 'none'})`);
    for (const row of unfinished) await this.conclude(row, reaped);
  }

  /** On record before the reaping: a kill of ours must not look like a stranger's. */
  private announce(row: MachineEntity): Promise<void> {
    return this.bundleOf(row).recordAction({ action: 'reap', by: 'vm-service', reason: 'restart of vm-service' });
  }

  private async conclude(row: MachineEntity, reaped: readonly ReapedInstance[]): Promise<void> {
    const found = reaped.find((r) => r.machineId === row.machineId && r.incarnation === row.incarnation);
    const wasRunning = found?.pid != null;
    const atMs = Date.now();
    const verdict = await this.bundleOf(row).conclude({
      formatVersion: 1,
      machineId: row.machineId,
      incarnation: row.incarnation,
      driver: this.driver.name,
      startedAtMs: row.createdAt.getTime(),
      observedAtMs: atMs,
      // Not our child any more: how a process ended that was already gone is not known.
      exit: wasRunning && !found.observedGone ? null : { code: null, signal: wasRunning ? 'SIGKILL' : null, atMs },
      stderrTail: '',
      serial: { totalBytes: 0, droppedBytes: 0 },
      recorder: { attachedBeforeBoot: true, lost: true, note: NOTE },
    });
    await this.machines.change(row.machineId as MachineId, row.incarnation, {
      state: 'ended',
      reason: verdict.class,
      message: verdict.account,
      verdict: verdictView(verdict),
      endedAt: new Date(atMs),
    });
  }

  private bundleOf(row: MachineEntity): EvidenceBundle {
    return new EvidenceBundle(this.paths.evidence(row.machineId as MachineId, row.incarnation));
  }
}
