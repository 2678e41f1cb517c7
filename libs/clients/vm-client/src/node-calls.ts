import { vmError } from '@inquest/contracts-vm';
import { hasCode, nodeOfMachine, parseId, type MachineId, type Operation } from '@inquest/kernel';
import type { RpcClient } from '@inquest/messaging';

export interface CallOptions {
  /** Stops waiting; the node may still do the work. */
  readonly signal?: AbortSignal;
  /** Instead of the operation's own. */
  readonly timeoutMs?: number;
}

/** Operations of vm-service on the node that they belong to. A node that does not answer is `NODE_UNAVAILABLE`. */
export abstract class NodeCalls {
  protected constructor(protected readonly rpc: RpcClient) {}

  /** On the node that the machine's id names. */
  protected onOwnNode<Req extends { readonly machineId: string }, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    options: CallOptions = {},
  ): Promise<Res> {
    const machineId = parseId<MachineId>(request.machineId, 'machine');
    return this.onNode(nodeOfMachine(machineId), op, request, options);
  }

  protected async onNode<Req extends object, Res extends object>(
    node: string,
    op: Operation<Req, Res>,
    request: Req,
    options: CallOptions,
  ): Promise<Res> {
    try {
      return await this.rpc.call(op, request, { node, ...options });
    } catch (e) {
      if (!hasCode(e, 'RPC_NO_RESPONDER')) throw e;
      throw vmError('NODE_UNAVAILABLE', `node "${node}" does not answer ${op.subject}`, { node }, e);
    }
  }
}
