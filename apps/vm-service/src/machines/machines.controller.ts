import { Controller, Delete, Get, HttpCode, Param, Post, Query, Body } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { dto, StreamTicket } from '@inquest/contracts-base';
import {
  CancelExecRequest,
  CancelledExecView,
  CloneMachineRequest,
  DestroyedView,
  DestroyMachineRequest,
  EvidenceRequest,
  EvidenceView,
  ExecRequest,
  ExecView,
  IncarnationRequest,
  ListFilesRequest,
  ListFilesView,
  ListMachinesRequest,
  MachineList,
  MachineRequest,
  MachineView,
  MakeTemplateRequest,
  RemovedTemplatesView,
  RemoveTemplatesRequest,
  NodeView,
  OpenStreamRequest,
  ReadFileRequest,
  ReadFileView,
  ResetMachineRequest,
  ShareRequest,
  ShutdownMachineRequest,
  StartGroupRequest,
  StartMachineRequest,
  TemplateStateRequest,
  TemplateStateView,
  TemplateView,
  UnshareRequest,
  VerdictReport,
  vmOps,
  WaitMachineRequest,
  WriteFileRequest,
  WriteFileView,
} from '@inquest/contracts-vm';
import type { MachineId } from '@inquest/kernel';
import { RpcHandler } from '@inquest/messaging';
import { GuestVerbsService } from '../guest/guest-verbs.service';
import { StreamTickets } from '../guest/stream-tickets';
import { NodeFacts } from '../nodes/node-facts';
import { PeersService } from '../peers/peers.service';
import { TemplateMaker } from '../templates/template-maker';
import { WarmPool } from '../warm-pool/warm-pool';
import { MachinesService } from './machines.service';

/** Machines of this node over NATS: the contract of vm-service. */
@Controller()
export class MachinesRpcController {
  constructor(
    private readonly machines: MachinesService,
    private readonly verbs: GuestVerbsService,
    private readonly tickets: StreamTickets,
    private readonly facts: NodeFacts,
    private readonly templates: TemplateMaker,
    private readonly warmPool: WarmPool,
    private readonly peers: PeersService,
  ) {}

  @RpcHandler(vmOps.nodes, { everyNode: true })
  nodes(): Promise<NodeView> {
    return this.facts.describe();
  }

  @RpcHandler(vmOps.list, { everyNode: true })
  list(@Payload() request: ListMachinesRequest): Promise<MachineList> {
    return this.machines.list(request);
  }

  @RpcHandler(vmOps.find, { everyNode: true })
  find(@Payload() { machineId }: MachineRequest): Promise<MachineList> {
    return this.machines.find(machineId);
  }

  @RpcHandler(vmOps.start)
  start(@Payload() request: StartMachineRequest): Promise<MachineView> {
    return this.machines.start(request);
  }

  @RpcHandler(vmOps.startGroup)
  startGroup(@Payload() request: StartGroupRequest): Promise<MachineList> {
    return this.peers.startGroup(request);
  }

  @RpcHandler(vmOps.makeTemplate)
  makeTemplate(@Payload() request: MakeTemplateRequest): Promise<TemplateView> {
    return this.templates.make(request);
  }

  @RpcHandler(vmOps.templateState, { everyNode: true })
  templateState(@Payload() request: TemplateStateRequest): Promise<TemplateStateView> {
    return this.templates.stateOf(request);
  }

  @RpcHandler(vmOps.removeTemplates, { everyNode: true })
  async removeTemplates(@Payload() request: RemoveTemplatesRequest): Promise<RemovedTemplatesView> {
    const removed = await this.templates.remove(request);
    await this.warmPool.discardOf(request);
    return removed;
  }

  @RpcHandler(vmOps.show)
  show(@Payload() { machineId }: MachineRequest): Promise<MachineView> {
    return this.machines.show(machineId as MachineId);
  }

  @RpcHandler(vmOps.wait)
  wait(@Payload() request: WaitMachineRequest): Promise<MachineView> {
    return this.machines.wait(request);
  }

  @RpcHandler(vmOps.reset)
  reset(@Payload() request: ResetMachineRequest): Promise<MachineView> {
    return this.machines.reset(request);
  }

  @RpcHandler(vmOps.cloneMachine)
  clone(@Payload() request: CloneMachineRequest): Promise<MachineView> {
    return this.machines.clone(request);
  }

  @RpcHandler(vmOps.share)
  share(@Payload() request: ShareRequest): Promise<MachineView> {
    return this.machines.share(request);
  }

  @RpcHandler(vmOps.unshare)
  unshare(@Payload() request: UnshareRequest): Promise<MachineView> {
    return this.machines.unshare(request);
  }

  @RpcHandler(vmOps.shutdown)
  shutdown(@Payload() request: ShutdownMachineRequest): Promise<MachineView> {
    return this.machines.shutdown(request);
  }

  @RpcHandler(vmOps.destroy)
  destroy(@Payload() request: DestroyMachineRequest): Promise<DestroyedView> {
    return this.machines.destroy(request);
  }

  @RpcHandler(vmOps.verdict)
  verdict(@Payload() request: IncarnationRequest): Promise<VerdictReport> {
    return this.machines.verdict(request);
  }

  @RpcHandler(vmOps.evidence)
  evidence(@Payload() request: EvidenceRequest): Promise<EvidenceView> {
    return this.machines.evidence(request);
  }

  @RpcHandler(vmOps.exec)
  exec(@Payload() request: ExecRequest): Promise<ExecView> {
    return this.verbs.exec(request);
  }

  @RpcHandler(vmOps.cancelExec)
  cancelExec(@Payload() request: CancelExecRequest): CancelledExecView {
    return this.verbs.cancelExec(request);
  }

  @RpcHandler(vmOps.readFile)
  readFile(@Payload() request: ReadFileRequest): Promise<ReadFileView> {
    return this.verbs.readFile(request);
  }

  @RpcHandler(vmOps.writeFile)
  writeFile(@Payload() request: WriteFileRequest): Promise<WriteFileView> {
    return this.verbs.writeFile(request);
  }

  @RpcHandler(vmOps.listFiles)
  listFiles(@Payload() request: ListFilesRequest): Promise<ListFilesView> {
    return this.verbs.listFiles(request);
  }

  @RpcHandler(vmOps.openStream)
  openStream(@Payload() request: OpenStreamRequest): StreamTicket {
    return this.tickets.issue(request);
  }
}

/** The same for an administrator of this node over REST, without a gateway. */
@Controller('v1')
export class MachinesController {
  constructor(
    private readonly machines: MachinesService,
    private readonly facts: NodeFacts,
    private readonly templates: TemplateMaker,
  ) {}

  @Post('templates')
  @HttpCode(200)
  makeTemplate(@Body() request: MakeTemplateRequest): Promise<TemplateView> {
    return this.templates.make(request);
  }

  @Get('node')
  node(): Promise<NodeView> {
    return this.facts.describe();
  }

  @Get('machines')
  list(@Query() request: ListMachinesRequest): Promise<MachineList> {
    return this.machines.list(request);
  }

  @Post('machines')
  @HttpCode(202)
  start(@Body() request: StartMachineRequest): Promise<MachineView> {
    return this.machines.start(request);
  }

  @Get('machines/:machineId')
  show(@Param() { machineId }: MachineRequest): Promise<MachineView> {
    return this.machines.show(machineId as MachineId);
  }

  @Get('machines/:machineId/verdict')
  verdict(@Param() { machineId }: MachineRequest): Promise<VerdictReport> {
    return this.machines.verdict(dto(IncarnationRequest, { machineId }));
  }

  @Delete('machines/:machineId')
  destroy(@Param() { machineId }: MachineRequest): Promise<DestroyedView> {
    return this.machines.destroy(dto(DestroyMachineRequest, { machineId, by: 'admin' }));
  }
}
