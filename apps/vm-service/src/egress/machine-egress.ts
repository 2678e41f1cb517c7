import { EGRESS_PORT, LOCAL_MODEL_PORT, type EgressProxy, type LocalModelPipe } from '@inquest/egress-proxy';
import type { VmListener } from '@inquest/vm-driver';
import type { EgressLog } from './egress-log';

/** The host's ends of the ways out of one incarnation; a way that the machine does not have is null. */
export interface MachineEgressParts {
  readonly proxy: EgressProxy | null;
  readonly localModel: LocalModelPipe | null;
  readonly log: EgressLog;
}

/** The ways out of one incarnation: what its driver and its kernel have to know of them, and their end. */
export class MachineEgress {
  constructor(private readonly parts: MachineEgressParts) {}

  /** True when the machine may reach some host of the internet. */
  get hasProxy(): boolean {
    return this.parts.proxy !== null;
  }

  /** True when the machine is given the model of its node. */
  get hasLocalModel(): boolean {
    return this.parts.localModel !== null;
  }

  /** True when there is any way out. */
  get isOffered(): boolean {
    return this.hasProxy || this.hasLocalModel;
  }

  /** Bound before the guest's first instruction. */
  get listeners(): readonly VmListener[] {
    const { proxy, localModel } = this.parts;
    return [
      ...(proxy === null ? [] : [{ port: EGRESS_PORT, handler: proxy.accept }]),
      ...(localModel === null ? [] : [{ port: LOCAL_MODEL_PORT, handler: localModel.accept }]),
    ];
  }

  /** By which the guest agent knows what is offered (docs/guest-protocol.md). */
  get kernelArguments(): readonly string[] {
    const { proxy, localModel } = this.parts;
    return [...(proxy === null ? [] : ['inquest.egress=1']), ...(localModel === null ? [] : ['inquest.local_model=1'])];
  }

  /**
   * Refuses further connections at once and ends those that are open. Idempotent, never rejects; when it resolves, all
   * is recorded that the disk takes.
   */
  async close(): Promise<void> {
    await Promise.all([this.parts.proxy?.close(), this.parts.localModel?.close()]);
    await this.parts.log.close();
  }
}
