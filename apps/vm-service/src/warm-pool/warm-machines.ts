import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { newMachineId, type NodeId } from '@inquest/kernel';
import { cloneSpecOf, requireTemplates, VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { EgressOffers } from '../egress/egress-offers';
import { EvidenceBundle } from '../evidence/evidence-bundle';
import type { LaunchableImage } from '../machines/image-resolver';
import { LiveMachine } from '../machines/live-machine';
import { MachinePaths } from '../machines/machine-paths';
import { machineSpecification } from '../machines/machine-specification';
import { TemplateStore, type TemplateKey } from '../templates/template-store';
import { VmServiceConfig } from '../vm-service.config';

/** Makes and removes the machines of the warm pool, which have no row before they are somebody's. */
@Injectable()
export class WarmMachines {
  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
    private readonly paths: MachinePaths,
    private readonly templates: TemplateStore,
    private readonly offers: EgressOffers,
  ) {}

  /** A clone that has answered; null when there is no template to clone. Throws what `clone` throws; nothing is left then. */
  async make(key: TemplateKey, launch: LaunchableImage, signal: AbortSignal): Promise<LiveMachine | null> {
    const template = await this.templates.find(key);
    if (template === null) return null;
    const machineId = newMachineId(this.config.nodeId as NodeId);
    const { cpus, memoryMib } = key;
    const { hasScreen } = template;
    const machine = {
      machineId,
      incarnation: 1,
      name: null,
      cpus,
      memoryMib,
      hasScreen,
      rtcBase: null,
      shares: [],
      peer: null,
    };
    const row = { ...machine, allowedHosts: [], hasLocalModel: false };
    const evidence = new EvidenceBundle(this.paths.evidence(machineId, row.incarnation));
    const egress = this.offers.make(row);
    const startedAtMs = Date.now();
    await evidence.recordAction({ action: 'start', by: 'vm-service', reason: 'warm pool' });
    const spec = cloneSpecOf(machineSpecification(row, launch, this.paths, egress), template);
    const handle = await requireTemplates(this.driver).clone(spec, signal);
    const driver = this.driver.name;
    const life = new LiveMachine(handle, { evidence, egress, startedAtMs, origin: 'clone', driver, shares: [] });
    try {
      await life.whenAnswering(AbortSignal.any([signal, life.ended]));
      return life;
    } catch (e) {
      await this.remove(life);
      throw e;
    }
  }

  /** Ends it and removes all of it, evidence too: it was nobody's, and nothing happened in it. */
  async remove({ machineId, incarnation, egress }: LiveMachine): Promise<void> {
    await egress.close();
    await this.driver.destroyInstance(this.paths.instance(machineId, incarnation));
    await rm(this.paths.evidenceOf(machineId), { recursive: true, force: true });
  }
}
