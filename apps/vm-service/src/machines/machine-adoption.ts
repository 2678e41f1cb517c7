import { Inject, Injectable, Logger } from '@nestjs/common';
import type { MachineState } from '@inquest/contracts-vm';
import type { MachineId } from '@inquest/kernel';
import { supportsAdoption, VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { EgressOffers } from '../egress/egress-offers';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import { LiveMachine } from './live-machine';
import { MachineLives } from './machine-lives';
import { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';

/** States in which a machine has been told of its way out and its shares: one that was being started has to start again. */
const ADOPTABLE: readonly MachineState[] = ['ready', 'paused', 'ending'];

/** Machines that ran on while no vm-service was there, taken over from its earlier life. */
@Injectable()
export class MachineAdoption {
  private readonly log = new Logger(MachineAdoption.name);

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly paths: MachinePaths,
    private readonly offers: EgressOffers,
    private readonly lives: MachineLives,
  ) {}

  /** True when the machine is one of this process from now on; false when it has to be ended. Never rejects. */
  async adopt(row: MachineEntity, signal: AbortSignal): Promise<boolean> {
    const { driver } = this;
    if (!supportsAdoption(driver) || !ADOPTABLE.includes(row.state)) return false;
    const machineId = row.machineId as MachineId;
    const { incarnation, shares } = row;
    const egress = this.offers.make(row);
    const directory = this.paths.instance(machineId, incarnation);
    try {
      const handle = await driver.adopt({ machineId, incarnation, directory, listeners: egress.listeners }, signal);
      const evidence = new EvidenceBundle(this.paths.evidence(machineId, incarnation));
      const facts = { evidence, egress, shares, origin: row.origin ?? 'boot', driver: driver.name } as const;
      this.lives.take(row, new LiveMachine(handle, { ...facts, startedAtMs: row.createdAt.getTime() }));
      this.log.log(`machine ${machineId} has been taken over`);
      return true;
    } catch (e) {
      await egress.close();
      this.log.warn(`machine ${machineId} could not be taken over: ${(e as Error).message}`);
      return false;
    }
  }
}
