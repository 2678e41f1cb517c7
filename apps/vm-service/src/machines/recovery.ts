import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { MachineId, NodeId } from '@inquest/kernel';
import type { EvidenceMeta } from '@inquest/verdict-engine';
import { VM_DRIVER, type ReapedInstance, type VmDriver } from '@inquest/vm-driver';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { VmServiceConfig } from '../vm-service.config';
import { MachineAdoption } from './machine-adoption';
import { MachineEnds } from './machine-ends';
import { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';
import { MachinesRepository } from './machines.repository';

/** Looking for survivors: each answers in ms, and one that does not is given up by the driver before. */
const ADOPT_TIMEOUT_MS = 5_000;
const REAP_TIMEOUT_MS = 10_000;
const ABSENT = 'vm-service was not there when this machine ended';

/**
 * Takes over the machines that an earlier life of this service left running, and ends the rest with a verdict: processes,
 * overlays, sockets, rows. Done before the service answers anything.
 */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  private readonly log = new Logger(Recovery.name);

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly machines: MachinesRepository,
    private readonly adoption: MachineAdoption,
    private readonly ends: MachineEnds,
    private readonly paths: MachinePaths,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const unfinished = await this.machines.unfinished(this.config.nodeId as NodeId);
    const signal = AbortSignal.timeout(ADOPT_TIMEOUT_MS);
    const adopted = await Promise.all(unfinished.map((row) => this.adoption.adopt(row, signal)));
    const survivors = unfinished.filter((_, at) => adopted[at]);
    await this.end(unfinished.filter((_, at) => !adopted[at]));
    await this.removeNetworks(survivors);
  }

  private async end(rows: readonly MachineEntity[]): Promise<void> {
    const left = rows.map((row) => ({
      row,
      evidence: new EvidenceBundle(this.paths.evidence(row.machineId as MachineId, row.incarnation)),
    }));
    // On record before the reaping: a kill of ours must not look like a stranger's.
    const action = { action: 'reap', by: 'vm-service', reason: 'restart of vm-service' } as const;
    await Promise.all(left.map(({ evidence }) => evidence.recordAction(action)));
    const reaped = await this.driver.reapOrphans(AbortSignal.timeout(REAP_TIMEOUT_MS));
    for (const found of reaped) this.log.warn(`reaped ${found.directory} (pid ${found.pid ?? 'none'})`);
    for (const { row, evidence } of left) await this.conclude(row, evidence, reaped);
  }

  /** Sockets between machines are of use only to those that are left. */
  private async removeNetworks(survivors: readonly MachineEntity[]): Promise<void> {
    const { networksRoot } = this.paths;
    const inUse = survivors.map(({ peer }) => peer?.groupId);
    const networks = await readdir(networksRoot).catch(() => []);
    const unused = networks.filter((name) => !inUse.includes(name));
    await Promise.all(unused.map((name) => rm(path.join(networksRoot, name), { recursive: true, force: true })));
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
    const meta = this.metaOf(row, found);
    await this.ends.record(row, evidence, meta, ({ account }) => ({ message: account }));
  }

  private metaOf(row: MachineEntity, found: ReapedInstance | undefined): EvidenceMeta {
    const atMs = Date.now();
    // How a process ended that is not our child is known only where something of it has said so.
    const unsaid = { code: null, signal: found?.pid != null ? 'SIGKILL' : null, atMs };
    const recording = found?.recording ?? null;
    return {
      formatVersion: 1,
      machineId: row.machineId,
      incarnation: row.incarnation,
      driver: this.driver.name,
      startedAtMs: row.createdAt.getTime(),
      observedAtMs: atMs,
      exit: found?.exit ?? unsaid,
      stderrTail: '',
      serial: { totalBytes: recording?.serialTotalBytes ?? 0, droppedBytes: recording?.serialDroppedBytes ?? 0 },
      recorder: {
        attachedBeforeBoot: true,
        lost: recording?.eventsLost ?? true,
        note:
          recording === null
            ? `${ABSENT}, so its last events may be missing`
            : `${ABSENT}; its events and its console are from the monitor's own record`,
      },
    };
  }
}
