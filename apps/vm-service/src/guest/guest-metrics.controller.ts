import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { GuestMetricsView, IncarnationRequest, vmOps } from '@inquest/contracts-vm';
import { RpcHandler } from '@inquest/messaging';
import { LiveMachines } from './live-machines';

/** Within the time that the caller waits. */
const METRICS_TIMEOUT_MS = 8_000;

/** What guests say of themselves, over NATS. */
@Controller()
export class GuestMetricsRpcController {
  constructor(private readonly machines: LiveMachines) {}

  @RpcHandler(vmOps.guestMetrics)
  async metrics(@Payload() request: IncarnationRequest): Promise<GuestMetricsView> {
    const life = await this.machines.require(request);
    return this.machines.run(life, () => life.agent.metrics({ signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) }));
  }
}
