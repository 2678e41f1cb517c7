import { Body, Controller, Get, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { parseDto } from '@inquest/config';
import { dto } from '@inquest/contracts-shared';
import { OpenStreamRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { ExecBody, FilesQuery, MachineParams } from './machine-requests';
import { readHead } from './request-head';
import { passThrough } from './stream-proxy';

/** Bytes to and from a guest, streamed: nothing is held here. */
@Controller('v1/machines/:machine')
export class MachineStreamsController {
  constructor(private readonly machines: VmClient) {}

  /** Output as it comes: guest-protocol frames, the last of them the exit. Hanging up kills the command. */
  @Post('exec-stream')
  async exec(
    @Param() { machine }: MachineParams,
    @Body() body: ExecBody,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    await this.run(machine, body, false, caller, answer);
  }

  /**
   * As `exec-stream`, for a command that reads its standard input. The first line of the body is the request as JSON,
   * everything behind it is the input, for as long as the body goes on.
   */
  @Post('exec-pipe')
  @ApiConsumes('application/octet-stream')
  async execWithInput(@Param() { machine }: MachineParams, @Req() caller: Request, @Res() answer: Response): Promise<void> {
    await this.run(machine, parseDto(ExecBody, await readHead(caller)), true, caller, answer);
  }

  /** Takes a tar (or, with `archive=file`, one file) as the body and puts it into the guest. */
  @Put('files')
  async put(
    @Param() { machine }: MachineParams,
    @Query() query: FilesQuery,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    await this.open('put', machine, query, caller, answer);
  }

  /** Gives a tar (or, with `archive=file`, one file) of the guest's path. */
  @Get('files')
  async get(
    @Param() { machine }: MachineParams,
    @Query() query: FilesQuery,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    await this.open('get', machine, query, caller, answer);
  }

  private async open(
    kind: 'put' | 'get',
    machine: string,
    query: FilesQuery,
    caller: Request,
    answer: Response,
  ): Promise<void> {
    const { machineId } = await this.machines.find(machine);
    const ticket = await this.machines.openStream(dto(OpenStreamRequest, { ...query, machineId, kind }));
    await passThrough(ticket, caller, answer);
  }
}
