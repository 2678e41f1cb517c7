import { Injectable } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import {
  ListMachinesRequest,
  MEMORY_MIB,
  vmError,
  vmOps,
  type CloneMachineRequest,
  type DestroyedView,
  type DestroyMachineRequest,
  type EvidenceRequest,
  type EvidenceView,
  type IncarnationRequest,
  type MachineView,
  type MakeTemplateRequest,
  type RemoveTemplatesRequest,
  type NodeView,
  type ResetMachineRequest,
  type ShareRequest,
  type ShutdownMachineRequest,
  type StartGroupRequest,
  type StartMachineRequest,
  type TemplateStateRequest,
  type TemplateStateView,
  type TemplateView,
  type UnshareRequest,
  type VerdictReport,
  type WaitMachineRequest,
} from '@inquest/contracts-vm';
import {
  abortable,
  hasCode,
  isGeneratedId,
  parseId,
  toDomainError,
  type DomainError,
  type MachineId,
} from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { chooseNode } from './choose-node';
import { GuestCalls } from './guest-calls';
import { KnownNodes } from './known-nodes';
import type { CallOptions } from './node-calls';

/** How long the nodes have to answer a question that goes to all of them. */
const GATHER_WINDOW_MS = 1_000;
/**
 * A new machine waits for this question, and a node that answers later than the others is busy: not the place for it.
 */
const NODES_QUIET_MS = 30;
/** A listing shall be complete, also where one node is slower than the others. */
const LIST_QUIET_MS = 250;
/** Live machines that one look for an owner goes through. */
const OWNED_LOOK_LIMIT = 500;

/**
 * vm-service as its callers see it: one object for machines on any number of nodes. Places new machines, and sends
 * every verb straight to the node that the machine's id names. Throws what vm-service answers; a node that does not
 * answer is `NODE_UNAVAILABLE`.
 */
@Injectable()
export class VmClient extends GuestCalls {
  private readonly known = new KnownNodes(() => this.nodes());

  constructor(rpc: RpcClient) {
    super(rpc);
  }

  /** What every node that answers says of itself. */
  nodes(options: Pick<CallOptions, 'signal'> = {}): Promise<NodeView[]> {
    return this.rpc.gather(vmOps.nodes, {}, { windowMs: GATHER_WINDOW_MS, quietMs: NODES_QUIET_MS, ...options });
  }

  /** Machines of all nodes that answer, newest first. */
  async list(request: ListMachinesRequest, options: Pick<CallOptions, 'signal'> = {}): Promise<MachineView[]> {
    const gathering = { windowMs: GATHER_WINDOW_MS, quietMs: LIST_QUIET_MS, ...options };
    const answers = await this.rpc.gather(vmOps.list, request, gathering);
    return answers
      .flatMap((answer) => answer.items)
      .sort((a, b) => b.createdAtMs - a.createdAtMs)
      .slice(0, request.limit);
  }

  /**
   * A machine by id, or by the name of a live one. Throws `MACHINE_UNKNOWN`, and `NODE_UNAVAILABLE` when it is the id of
   * a node that does not answer: such a machine may well exist.
   */
  async find(idOrName: string): Promise<MachineView> {
    const machineId = parseId<MachineId>(idOrName, 'machine');
    const direct = isGeneratedId(machineId) ? await this.showOrFailure(machineId) : null;
    if (direct !== null && 'machine' in direct) return direct.machine;
    // Nodes that do not have it keep silent, so the first answer is the only one.
    const [answer] = await this.rpc.gather(vmOps.find, { machineId }, { windowMs: GATHER_WINDOW_MS, expect: 1 });
    const machine = answer?.items[0];
    if (machine !== undefined) return machine;
    if (direct !== null && hasCode(direct.failure, 'NODE_UNAVAILABLE')) throw direct.failure;
    throw vmError('MACHINE_UNKNOWN', `no machine "${idOrName}" is known on any node`, { machine: idOrName });
  }

  /**
   * Does `verb` on the machine of that id or name. An id goes straight to its node, without a question before. Throws what
   * `find` and `verb` throw.
   */
  async on<T>(idOrName: string, verb: (machineId: MachineId) => Promise<T>): Promise<T> {
    if (isGeneratedId(idOrName)) {
      try {
        return await verb(parseId<MachineId>(idOrName, 'machine'));
      } catch (e) {
        // Nothing was begun; a person may have chosen a name that looks like an id.
        if (!isNotThere(e)) throw e;
      }
    }
    const { machineId } = await this.find(idOrName);
    return verb(machineId as MachineId);
  }

  /** The live machine that was started for `owner`; null when no node that answers has one. */
  async findOwned(owner: string, options: Pick<CallOptions, 'signal'> = {}): Promise<MachineView | null> {
    const live = await this.list(dto(ListMachinesRequest, { limit: OWNED_LOOK_LIMIT }), options);
    return live.find((machine) => machine.owner === owner) ?? null;
  }

  /**
   * Starts on the node with the most memory left. Answers when the start was accepted, not when the machine is ready.
   * Throws `NODE_UNAVAILABLE`, `NODE_EXHAUSTED` and what vm-service answers. The same `requestId` makes one machine per
   * node: a start that is repeated looks with `findOwned` first.
   */
  async start(request: StartMachineRequest, options: CallOptions = {}): Promise<MachineView> {
    const known = this.known.recent();
    if (known !== null) {
      try {
        const machine = await this.startOnBest(known, request, options);
        // Not before: the node would answer that first.
        this.known.renew();
        return machine;
      } catch (e) {
        // Nothing was begun; the nodes may have changed since they were asked.
        if (!hasCode(e, 'NODE_UNAVAILABLE') && !hasCode(e, 'NODE_EXHAUSTED')) throw e;
      }
    }
    const asked = this.known.refresh();
    const nodes = options.signal === undefined ? await asked : await abortable(asked, options.signal, 'the start');
    return this.startOnBest(nodes, request, options);
  }

  /** Starts a group of machines on the one node that has the memory for all of them. Throws as `start` does. */
  async startGroup(request: StartGroupRequest, options: CallOptions = {}): Promise<MachineView[]> {
    const asked = this.known.refresh();
    const nodes = options.signal === undefined ? await asked : await abortable(asked, options.signal, 'the start');
    const { node } = chooseNode(nodes, request.count * (request.machine.memoryMib ?? MEMORY_MIB.default));
    return (await this.onNode(node, vmOps.startGroup, request, options)).items;
  }

  /** Makes the template of a frozen version on one node, unless that node has it. */
  makeTemplate(node: string, request: MakeTemplateRequest, options: CallOptions = {}): Promise<TemplateView> {
    return this.onNode(node, vmOps.makeTemplate, request, options);
  }

  /** How the template of a version stands on every node that answers. */
  templateStates(
    request: TemplateStateRequest,
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<TemplateStateView[]> {
    const gathering = { windowMs: GATHER_WINDOW_MS, quietMs: LIST_QUIET_MS, ...options };
    return this.rpc.gather(vmOps.templateState, request, gathering);
  }

  /** Has every node remove the templates of a version that nothing starts on any more; the nodes that did. */
  async removeTemplates(request: RemoveTemplatesRequest): Promise<string[]> {
    const removed = await this.rpc.gather(vmOps.removeTemplates, request, {
      windowMs: GATHER_WINDOW_MS,
      quietMs: LIST_QUIET_MS,
    });
    return removed.map(({ node }) => node);
  }

  show(machineId: string, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.show, { machineId }, options);
  }

  wait(request: WaitMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.wait, request, options);
  }

  reset(request: ResetMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.reset, request, options);
  }

  clone(request: CloneMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.cloneMachine, request, options);
  }

  share(request: ShareRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.share, request, options);
  }

  unshare(request: UnshareRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.unshare, request, options);
  }

  shutdown(request: ShutdownMachineRequest, options?: CallOptions): Promise<MachineView> {
    return this.onOwnNode(vmOps.shutdown, request, options);
  }

  destroy(request: DestroyMachineRequest, options?: CallOptions): Promise<DestroyedView> {
    return this.onOwnNode(vmOps.destroy, request, options);
  }

  verdict(request: IncarnationRequest, options?: CallOptions): Promise<VerdictReport> {
    return this.onOwnNode(vmOps.verdict, request, options);
  }

  evidence(request: EvidenceRequest, options?: CallOptions): Promise<EvidenceView> {
    return this.onOwnNode(vmOps.evidence, request, options);
  }

  /** `async`, so that a refusal to choose rejects like that of a node. */
  private async startOnBest(
    nodes: readonly NodeView[],
    request: StartMachineRequest,
    options: CallOptions,
  ): Promise<MachineView> {
    const { node } = chooseNode(nodes, request.memoryMib ?? MEMORY_MIB.default);
    return this.onNode(node, vmOps.start, request, options);
  }

  private async showOrFailure(
    machineId: MachineId,
  ): Promise<{ readonly machine: MachineView } | { readonly failure: DomainError }> {
    try {
      return { machine: await this.show(machineId) };
    } catch (e) {
      if (isNotThere(e)) return { failure: toDomainError(e) };
      throw e;
    }
  }
}

const isNotThere = (e: unknown): boolean => hasCode(e, 'MACHINE_UNKNOWN') || hasCode(e, 'NODE_UNAVAILABLE');
