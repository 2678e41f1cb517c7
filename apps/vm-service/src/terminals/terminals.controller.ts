import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { StreamTicket } from '@inquest/contracts-base';
import {
  AttachTerminalRequest,
  LocateTerminalRequest,
  MachineRequest,
  OpenTerminalRequest,
  TerminalList,
  TerminalRequest,
  TerminalTicket,
  TerminalView,
  vmOps,
} from '@inquest/contracts-vm';
import { RpcHandler } from '@inquest/messaging';
import { Terminals } from './terminals.service';

/** Terminals of this node's machines over NATS. */
@Controller()
export class TerminalsRpcController {
  constructor(private readonly terminals: Terminals) {}

  @RpcHandler(vmOps.openTerminal)
  open(@Payload() request: OpenTerminalRequest): Promise<TerminalView> {
    return this.terminals.open(request);
  }

  @RpcHandler(vmOps.listTerminals)
  list(@Payload() { machineId }: MachineRequest): TerminalList {
    return this.terminals.list(machineId);
  }

  @RpcHandler(vmOps.showTerminal)
  show(@Payload() request: TerminalRequest): TerminalView {
    return this.terminals.show(request);
  }

  @RpcHandler(vmOps.closeTerminal)
  close(@Payload() request: TerminalRequest): Promise<TerminalView> {
    return this.terminals.close(request);
  }

  @RpcHandler(vmOps.attachTerminal)
  attach(@Payload() request: AttachTerminalRequest): TerminalTicket {
    return this.terminals.attach(request);
  }

  @RpcHandler(vmOps.locateTerminal)
  locate(@Payload() request: LocateTerminalRequest): StreamTicket {
    return this.terminals.locate(request);
  }
}
