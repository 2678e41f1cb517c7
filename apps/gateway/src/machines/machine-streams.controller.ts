import { Body, Controller, Get, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { parseDto } from '@inquest/config';
import { dto, type StreamTicket } from '@inquest/contracts-base';
import { OpenStreamRequest, type StreamKind } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { ExecBody, FilesQuery, MachineParams } from './machine-requests';
import { readHead } from './request-head';
import { passThrough, requireStream } from './stream-proxy';

/** Bytes to and from a guest, streamed: nothing is held here. */
@Controller('v1/machines/:machine')
export class MachineStreamsController {
  constructor(private readonly machines: VmClient) {}

  /** Output as it comes: guest-protocol frames, the last of them the exit. Hanging up kills the command. */
  @Post('exec-stream')
  async exec(@Param() { machine }: MachineParams, @Body() body: ExecBody, @Res() answer: Response): Promise<void> {
    await this.run(machine, body, null, answer);
  }

  /**
   * As `exec-stream`, for a command that reads its standard input. The first line of the body is the request as JSON,
   * everything behind it is the input, for as long as the body goes on.
   */
  @Post('exec-pipe')
  @ApiConsumes('application/octet-stream')
  async execWithInput(
    @Param() { machine }: MachineParams,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    const input = requireStream(caller);
    await this.run(machine, parseDto(ExecBody, await readHead(input)), input, answer);
  }

  /** Takes a tar (or, with `archive=file`, one file) as the body and puts it into the guest. */
  @Put('files')
  @ApiConsumes('application/octet-stream')
  async put(
    @Param() { machine }: MachineParams,
    @Query() query: FilesQuery,
    @Req() caller: Request,
    @Res() answer: Response,
  ): Promise<void> {
    const input = requireStream(caller);
    await passThrough(await this.ticket(machine, 'put', query), input, answer);
  }

  /** Gives a tar (or, with `archive=file`, one file) of the guest's path. */
  @Get('files')
  async get(@Param() { machine }: MachineParams, @Query() query: FilesQuery, @Res() answer: Response): Promise<void> {
    await passThrough(await this.ticket(machine, 'get', query), null, answer);
  }

  private async run(machine: string, body: ExecBody, input: Request | null, answer: Response): Promise<void> {
    const { command, cwd, env, user, timeoutMs, incarnation } = body;
    const wanted = { command, cwd, env, user, timeoutMs, incarnation, stdin: input !== null };
    await passThrough(await this.ticket(machine, 'exec', wanted), input, answer);
  }

  private ticket(machine: string, kind: StreamKind, wanted: Partial<OpenStreamRequest>): Promise<StreamTicket> {
    return this.machines.on(machine, (machineId) =>
      this.machines.openStream(dto(OpenStreamRequest, { ...wanted, machineId, kind })),
    );
  }
}
