import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import {
  CloneMachineRequest,
  DestroyedView,
  DestroyMachineRequest,
  EvidenceRequest,
  EvidenceView,
  ExecRequest,
  ExecSerialRequest,
  ExecSerialView,
  ExecView,
  IncarnationRequest,
  ListMachinesRequest,
  MachineList,
  MachineView,
  ResetMachineRequest,
  ShareRequest,
  ShareWish,
  ShutdownMachineRequest,
  StartMachineRequest,
  UnshareRequest,
  VerdictReport,
  WaitMachineRequest,
} from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import {
  BY,
  CloneBody,
  EvidenceParams,
  EvidenceQuery,
  ExecBody,
  ExecSerialBody,
  IncarnationBody,
  IncarnationQuery,
  ListMachinesQuery,
  MachineParams,
  NewMachineBody,
  ShutdownBody,
  UnshareQuery,
  WaitMachineQuery,
} from './machine-requests';

/** What the control plane may add to a command's own time limit before the call counts as lost. */
const CALL_MARGIN_MS = 30_000;

@Controller('v1/machines')
export class MachinesController {
  constructor(private readonly machines: VmClient) {}

  @Get()
  async list(@Query() { all, limit }: ListMachinesQuery): Promise<MachineList> {
    return { items: await this.machines.list(dto(ListMachinesRequest, { includeEnded: all, limit })) };
  }

  /** Answers when the start was accepted; wait for `ready` at `/v1/machines/{machine}/wait`. */
  @Post()
  @HttpCode(202)
  start(@Body() { isMaintenance, ...body }: NewMachineBody): Promise<MachineView> {
    const purpose = isMaintenance ? 'maintenance' : 'session';
    return this.machines.start(dto(StartMachineRequest, { ...body, purpose }));
  }

  @Get(':machine')
  show(@Param() { machine }: MachineParams): Promise<MachineView> {
    return this.machines.find(machine);
  }

  @Get(':machine/wait')
  wait(@Param() { machine }: MachineParams, @Query() { state, waitMs }: WaitMachineQuery): Promise<MachineView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.wait(dto(WaitMachineRequest, { machineId, states: state, waitMs })),
    );
  }

  @Get(':machine/verdict')
  verdict(@Param() { machine }: MachineParams, @Query() { incarnation }: IncarnationQuery): Promise<VerdictReport> {
    return this.machines.on(machine, (machineId) =>
      this.machines.verdict(dto(IncarnationRequest, { machineId, incarnation })),
    );
  }

  /** The bytes that a verdict was drawn from, as text, part by part. */
  @Get(':machine/evidence/:file')
  evidence(
    @Param() { machine, file }: EvidenceParams,
    @Query() { incarnation, fromOffset }: EvidenceQuery,
  ): Promise<EvidenceView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.evidence(dto(EvidenceRequest, { machineId, incarnation, file, fromOffset })),
    );
  }

  @Post(':machine/exec')
  @HttpCode(200)
  exec(@Param() { machine }: MachineParams, @Body() body: ExecBody): Promise<ExecView> {
    const limit = body.timeoutMs === null ? {} : { timeoutMs: body.timeoutMs + CALL_MARGIN_MS };
    return this.machines.on(machine, (machineId) =>
      this.machines.exec(dto(ExecRequest, { ...body, machineId }), limit),
    );
  }

  /** A command by the second serial port: for a machine whose guest agent is gone. Both its outputs come mixed. */
  @Post(':machine/exec-serial')
  @HttpCode(200)
  execSerial(@Param() { machine }: MachineParams, @Body() body: ExecSerialBody): Promise<ExecSerialView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.execSerial(dto(ExecSerialRequest, { ...body, machineId, by: BY }), {
        timeoutMs: body.timeoutMs + CALL_MARGIN_MS,
      }),
    );
  }

  @Post(':machine/reset')
  @HttpCode(202)
  reset(@Param() { machine }: MachineParams, @Body() { incarnation }: IncarnationBody): Promise<MachineView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.reset(dto(ResetMachineRequest, { machineId, incarnation, by: BY })),
    );
  }

  /** A copy of the machine as it is now, which is paused for a moment. Answers when the copy was accepted. */
  @Post(':machine/clone')
  @HttpCode(202)
  clone(@Param() { machine }: MachineParams, @Body() body: CloneBody): Promise<MachineView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.clone(dto(CloneMachineRequest, { ...body, machineId, by: BY })),
    );
  }

  /** For the next incarnation: reset the machine to have it. */
  @Post(':machine/shares')
  @HttpCode(200)
  share(@Param() { machine }: MachineParams, @Body() share: ShareWish): Promise<MachineView> {
    return this.machines.on(machine, (machineId) => this.machines.share(dto(ShareRequest, { machineId, share })));
  }

  /** From the next incarnation on: reset the machine to be rid of it. */
  @Delete(':machine/shares')
  unshare(@Param() { machine }: MachineParams, @Query() { guestPath }: UnshareQuery): Promise<MachineView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.unshare(dto(UnshareRequest, { machineId, guestPath })),
    );
  }

  @Post(':machine/shutdown')
  @HttpCode(200)
  shutdown(@Param() { machine }: MachineParams, @Body() body: ShutdownBody): Promise<MachineView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.shutdown(dto(ShutdownMachineRequest, { ...body, machineId, by: BY })),
    );
  }

  /** Ends and removes it in whatever state; the answer is what was observed. */
  @Delete(':machine')
  destroy(@Param() { machine }: MachineParams): Promise<DestroyedView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.destroy(dto(DestroyMachineRequest, { machineId, by: BY })),
    );
  }
}
