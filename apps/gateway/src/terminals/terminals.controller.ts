import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import {
  AttachTerminalRequest,
  OpenTerminalRequest,
  TerminalList,
  TerminalRequest,
  TerminalTicket,
  TerminalView,
} from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { MachineParams } from '../machines/machine-requests';
import { AttachBody, NewTerminalBody, TerminalParams } from './terminal-requests';

/** Interactive commands of a machine. What they show and take goes over the WebSocket of `TerminalPassage`. */
@Controller('v1/machines/:machine/terminals')
export class TerminalsController {
  constructor(private readonly machines: VmClient) {}

  /** Starts a command with a terminal: a login shell unless the body says another. */
  @Post()
  async open(@Param() { machine }: MachineParams, @Body() body: NewTerminalBody): Promise<TerminalView> {
    const { machineId } = await this.machines.find(machine);
    return this.machines.openTerminal(dto(OpenTerminalRequest, { ...body, machineId }));
  }

  @Get()
  async list(@Param() { machine }: MachineParams): Promise<TerminalList> {
    const { machineId } = await this.machines.find(machine);
    return this.machines.listTerminals(machineId);
  }

  @Get(':terminal')
  async show(@Param() params: TerminalParams): Promise<TerminalView> {
    return this.machines.showTerminal(await this.locate(params));
  }

  /** Ends the command and everything that it started. */
  @Delete(':terminal')
  async close(@Param() params: TerminalParams): Promise<TerminalView> {
    return this.machines.closeTerminal(await this.locate(params));
  }

  /**
   * A ticket for one viewer: open a WebSocket at `/v1/machines/{machineId}/terminal-socket` within a minute, offering the
   * subprotocols `inquest.terminal.v1` and `inquest.ticket.` with the ticket behind it.
   */
  @Post(':terminal/attach')
  async attach(@Param() params: TerminalParams, @Body() body: AttachBody): Promise<TerminalTicket> {
    return this.machines.attachTerminal(dto(AttachTerminalRequest, { ...(await this.locate(params)), ...body }));
  }

  private async locate({ machine, terminal }: TerminalParams): Promise<TerminalRequest> {
    const { machineId } = await this.machines.find(machine);
    return dto(TerminalRequest, { machineId, terminalId: terminal });
  }
}
