import { Injectable } from '@nestjs/common';
import { StreamTicket } from '@inquest/contracts-shared';
import {
  MEMORY_MIB,
  vmError,
  vmOps,
  type DestroyedView,
  type DestroyMachineRequest,
  type EvidenceRequest,
  type EvidenceView,
  type ExecRequest,
  type ExecView,
  type IncarnationRequest,
  type ListFilesRequest,
  type ListFilesView,
  type ListMachinesRequest,
  type MachineView,
  type NodeView,
  type OpenStreamRequest,
  type ReadFileRequest,
  type ReadFileView,
  type ResetMachineRequest,
  type ScreenshotView,
  type ShutdownMachineRequest,
  type StartMachineRequest,
  type VerdictReport,
  type WaitMachineRequest,
  type WriteFileRequest,
  type WriteFileView,
} from '@inquest/contracts-vm';
import { hasCode, nodeOfMachine, parseId, type MachineId, type Operation } from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { chooseNode } from './choose-node';

/** How long the nodes have to answer a question that goes to all of them; no longer than this after the last answer. */
const GATHER = { windowMs: 1_000, quietMs: 30 };

/** What an id made by `newMachineId` looks like; anything else can only be a name. */
const GENERATED_ID = /-[a-z0-9]{10}$/;

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/**
 * vm-service as its callers see it: one object for machines on any number of nodes. Places new machines, and sends
 * every verb straight to the node that the machine's id names. Throws what vm-service answers; a node that does not
 * answer is `NODE_UNAVAILABLE`.
 */
@Injectable()
export class VmClient {
  constructor(private readonly rpc: RpcClient) {}

  nodes(): Promise<NodeView[]> {
    return this.rpc.gather(vmOps.nodes, {}, GATHER);
  }

  /** Machines of all nodes, newest first. */
  async list(request: ListMachinesRequest): Promise<MachineView[]> {
    const answers = await this.rpc.gather(vmOps.list, request, GATHER);
    return answers
      .flatMap((answer) => answer.items)
      .sort((a, b) => b.createdAtMs - a.createdAtMs)
      .slice(0, request.limit);
  }

  /** A machine by id or by name: the live one that has it, else the newest that had it. Throws `MACHINE_UNKNOWN`. */
  async find(idOrName: string): Promise<MachineView> {
    const machineId = parseId<MachineId>(idOrName, 'machine');
    const direct = GENERATED_ID.test(machineId) ? await this.showOrNull(machineId) : null;
    if (direct !== null) return direct;
    const answers = await this.rpc.gather(vmOps.find, { machineId }, GATHER);
    const machine = answers.flatMap((answer) => answer.items).sort(liveThenNewest)[0];
    if (!machine)
      throw vmError('MACHINE_UNKNOWN', `no machine "${idOrName}" is known on any node`, { machine: idOrName });
    return machine;
  }

  /** Starts on the node with the most memory left. Answers when the start was accepted, not when the machine is ready. */
  async start(request: StartMachineRequest): Promise<MachineView> {
    const { node } = chooseNode(await this.nodes(), request.memoryMib ?? MEMORY_MIB.default);
    return this.rpc.call(vmOps.start, request, { node });
  }

  show(machineId: string): Promise<MachineView> {
    return this.toNode(vmOps.show, { machineId });
  }

  wait(request: WaitMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.toNode(vmOps.wait, request, options);
  }

  reset(request: ResetMachineRequest): Promise<MachineView> {
    return this.toNode(vmOps.reset, request);
  }

  shutdown(request: ShutdownMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.toNode(vmOps.shutdown, request, options);
  }

  destroy(request: DestroyMachineRequest): Promise<DestroyedView> {
    return this.toNode(vmOps.destroy, request);
  }

  verdict(request: IncarnationRequest): Promise<VerdictReport> {
    return this.toNode(vmOps.verdict, request);
  }

  evidence(request: EvidenceRequest): Promise<EvidenceView> {
    return this.toNode(vmOps.evidence, request);
  }

  exec(request: ExecRequest, options?: CallOptions): Promise<ExecView> {
    return this.toNode(vmOps.exec, request, options);
  }

  readFile(request: ReadFileRequest): Promise<ReadFileView> {
    return this.toNode(vmOps.readFile, request);
  }

  writeFile(request: WriteFileRequest): Promise<WriteFileView> {
    return this.toNode(vmOps.writeFile, request);
  }

  listFiles(request: ListFilesRequest): Promise<ListFilesView> {
    return this.toNode(vmOps.listFiles, request);
  }

  openStream(request: OpenStreamRequest): Promise<StreamTicket> {
    return this.toNode(vmOps.openStream, request);
  }

  screenshot(request: IncarnationRequest): Promise<ScreenshotView> {
    return this.toNode(vmOps.screenshot, request);
  }

  private async showOrNull(machineId: MachineId): Promise<MachineView | null> {
    try {
      return await this.show(machineId);
    } catch (e) {
      if (hasCode(e, 'MACHINE_UNKNOWN') || hasCode(e, 'NODE_UNAVAILABLE')) return null;
      throw e;
    }
  }

  private async toNode<Req extends { readonly machineId: string }, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    options: CallOptions = {},
  ): Promise<Res> {
    const node = nodeOfMachine(parseId<MachineId>(request.machineId, 'machine'));
    try {
      return await this.rpc.call(op, request, { node, ...options });
    } catch (e) {
      if (!hasCode(e, 'RPC_NO_RESPONDER')) throw e;
      throw vmError('NODE_UNAVAILABLE', `node "${node}" of machine ${request.machineId} does not answer`, { node }, e);
    }
  }
}

const liveThenNewest = (a: MachineView, b: MachineView): number =>
  Number(a.state === 'ended') - Number(b.state === 'ended') || b.createdAtMs - a.createdAtMs;
