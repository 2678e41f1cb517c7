import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { dto, IsGuestPath, IsWhole } from '@inquest/contracts-base';
import { GuestMetricsView, IncarnationRequest, OpenStreamRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { IncarnationBody, IncarnationQuery, MachineParams } from './machine-requests';
import { passThrough } from './stream-proxy';

export class TailQuery extends IncarnationBody {
  @IsGuestPath() readonly path!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
  /** Ends when the file has not grown for this long; 0 ends at its end. */
  @IsWhole(0, 3_600_000) readonly idleMs: number = 0;
}

/** What a guest tells of itself. */
@Controller('v1/machines/:machine')
export class MachineReportsController {
  constructor(private readonly machines: VmClient) {}

  /** How busy it is: load, memory, disk, processes. */
  @Get('metrics')
  async metrics(
    @Param() { machine }: MachineParams,
    @Query() { incarnation }: IncarnationQuery,
  ): Promise<GuestMetricsView> {
    const { machineId } = await this.machines.find(machine);
    return this.machines.guestMetrics(dto(IncarnationRequest, { machineId, incarnation }));
  }

  /** A file as it grows: guest-protocol frames, the last of which says where the next tail goes on. */
  @Get('tail')
  async tail(@Param() { machine }: MachineParams, @Query() query: TailQuery, @Res() answer: Response): Promise<void> {
    const { machineId } = await this.machines.find(machine);
    const wanted = dto(OpenStreamRequest, { ...query, machineId, kind: 'tail' });
    await passThrough(await this.machines.openStream(wanted), null, answer);
  }
}
