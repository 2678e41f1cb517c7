import { Matches } from 'class-validator';
import { IsNested, IsWhole } from '@inquest/contracts-base';
import { StartMachineRequest } from './machine.dto';

/** Machines of one group. */
export const GROUP_SIZE = { min: 2, max: 8, default: 2 } as const;
/** So that `<group>-8` is a name of a machine. */
export const GROUP_NAME_PATTERN = /^[A-Za-z0-9_-]{1,60}$/;

/** Machines that are wired together, and to nothing else. They are called `<group>-1`, `<group>-2` and so on. */
export class StartGroupRequest {
  @Matches(GROUP_NAME_PATTERN) readonly group!: string;
  @IsWhole(GROUP_SIZE.min, GROUP_SIZE.max) readonly count: number = GROUP_SIZE.default;
  /** What each of them is; without a name and a request id of its own. */
  @IsNested(() => StartMachineRequest) readonly machine!: StartMachineRequest;
}
