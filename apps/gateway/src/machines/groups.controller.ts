import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { Matches } from 'class-validator';
import { dto, IsNested, IsWhole } from '@inquest/contracts-base';
import {
  GROUP_NAME_PATTERN,
  GROUP_SIZE,
  MachineList,
  StartGroupRequest,
  StartMachineRequest,
} from '@inquest/contracts-vm';
import { kernelError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';
import { NewMachineBody } from './machine-requests';

export class NewGroupBody {
  /** The machines are called `<group>-1`, `<group>-2` and so on. */
  @Matches(GROUP_NAME_PATTERN) readonly group!: string;
  @IsWhole(GROUP_SIZE.min, GROUP_SIZE.max) readonly count: number = GROUP_SIZE.default;
  /** What each of them is; without a name of its own. */
  @IsNested(() => NewMachineBody) readonly machine!: NewMachineBody;
}

/** Machines that are wired together, and to nothing else. */
@Controller('v1/groups')
export class GroupsController {
  constructor(private readonly machines: VmClient) {}

  /** Answers when all were accepted; each is `ready` once its neighbours answered it, and all are or none is left. */
  @Post()
  @HttpCode(202)
  async start(@Body() { group, count, machine: { isMaintenance, ...machine } }: NewGroupBody): Promise<MachineList> {
    if (isMaintenance) throw kernelError('INPUT_INVALID', 'one machine alone can have a working copy open');
    const request = { group, count, machine: dto(StartMachineRequest, machine) };
    return { items: await this.machines.startGroup(dto(StartGroupRequest, request)) };
  }
}
