import { Inject, Injectable } from '@nestjs/common';
import { vmError, type StartMachineRequest } from '@inquest/contracts-vm';
import { AllowList } from '@inquest/egress-policy';
import {
  DEFAULT_EGRESS_LIMITS,
  EgressProxy,
  HOST_NETWORK,
  LocalModelPipe,
  type EgressRecord,
  type HostNetwork,
  type ModelEndpoint,
} from '@inquest/egress-proxy';
import type { MachineId } from '@inquest/kernel';
import { MachinePaths } from '../machines/machine-paths';
import type { MachineEntity } from '../machines/machine.entity';
import { VmServiceConfig } from '../vm-service.config';
import { EgressLog } from './egress-log';
import { EgressMetrics } from './egress-metrics';
import { MachineEgress } from './machine-egress';

/** What a machine was told when it was asked for; kept in its row. */
type Wishes = Pick<MachineEntity, 'allowedHosts' | 'hasLocalModel'>;

/** Makes the host's ends of the ways out that machines have. */
@Injectable()
export class EgressOffers {
  private readonly endpoint: ModelEndpoint | null;

  constructor(
    @Inject(HOST_NETWORK) private readonly network: HostNetwork,
    config: VmServiceConfig,
    private readonly paths: MachinePaths,
    private readonly metrics: EgressMetrics,
  ) {
    this.endpoint = config.localModelUrl === undefined ? null : endpointOf(config.localModelUrl);
  }

  /** What a machine will have. Throws `EGRESS_ENTRY_INVALID`, and `LOCAL_MODEL_MISSING` when this node has no model. */
  accept({ allowedHosts, localModel }: Pick<StartMachineRequest, 'allowedHosts' | 'localModel'>): Wishes {
    const { entries } = AllowList.parse(allowedHosts);
    if (localModel && this.endpoint === null) {
      throw vmError('LOCAL_MODEL_MISSING', 'this node has no local model that a machine could be given');
    }
    return { allowedHosts: [...entries], hasLocalModel: localModel };
  }

  /** The ways out of one incarnation. Nothing is open before its driver listens; the caller closes it. */
  make(row: Pick<MachineEntity, 'machineId' | 'incarnation'> & Wishes): MachineEgress {
    const log = new EgressLog(this.paths.evidence(row.machineId as MachineId, row.incarnation));
    const record = (entry: EgressRecord): Promise<void> => {
      this.metrics.count(entry);
      return log.record(entry);
    };
    const common = { record, limits: DEFAULT_EGRESS_LIMITS };
    const allowList = AllowList.parse(row.allowedHosts);
    const { endpoint, network } = this;
    return new MachineEgress({
      proxy: allowList.isEmpty ? null : new EgressProxy({ allowList, network, ...common }),
      localModel: row.hasLocalModel && endpoint !== null ? new LocalModelPipe({ endpoint, ...common }) : null,
      log,
    });
  }
}

/** The configuration has checked that it is a URL of http. */
function endpointOf(url: string): ModelEndpoint {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) };
}
