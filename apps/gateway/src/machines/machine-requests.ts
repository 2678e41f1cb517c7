import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import {
  IsAllowedHosts,
  IsEnvironment,
  IsGuestPath,
  IsId,
  IsImageName,
  IsListOf,
  IsText,
  IsWhole,
  Nullable,
} from '@inquest/contracts-base';
import {
  CPUS,
  EVIDENCE_FILES,
  EXEC_REPLY_OUTPUT_BYTES,
  MACHINE_STATES,
  MAX_SHARES,
  MEMORY_MIB,
  RTC_MAX_MS,
  SERIAL_COMMAND_MAX_BYTES,
  SERIAL_TIMEOUT_MS,
  ShareWish,
  type EvidenceFileName,
  type MachineState,
} from '@inquest/contracts-vm';

/** Who asked, in the evidence of a machine. */
export const BY = 'gateway';

/** Body of `POST /v1/machines`. Less than the services know: nobody outside may boot an unproven version. */
export class NewMachineBody {
  @Nullable() @IsId() readonly requestId: string | null = null;
  @IsImageName() readonly image!: string;
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
  @Nullable() @IsId() readonly name: string | null = null;
  @Nullable() @IsWhole(CPUS.min, CPUS.max) readonly cpus: number | null = null;
  @Nullable() @IsWhole(MEMORY_MIB.min, MEMORY_MIB.max) readonly memoryMib: number | null = null;
  /** On the open working copy of the image, which the machine writes itself; there is one at a time. */
  @IsBoolean() readonly isMaintenance: boolean = false;
  /** Hosts that the guest may reach by HTTPS: names, and `*.suffix` for all below a suffix. */
  @IsAllowedHosts() readonly allowedHosts: string[] = [];
  /** Gives the guest the model of its node, on port 11434 of its own loopback. */
  @IsBoolean() readonly localModel: boolean = false;
  /** Gives the machine a screen, a pointer and a keyboard, also where the image declares none. */
  @IsBoolean() readonly screen: boolean = false;
  /** What the guest's clock shows at the start of each incarnation, ms since the Unix epoch; null is the time of the host. */
  @Nullable() @IsWhole(0, RTC_MAX_MS) readonly rtcBaseMs: number | null = null;
  /** Directories of the machine's host that the guest may read. */
  @IsListOf(() => ShareWish, MAX_SHARES) readonly shares: ShareWish[] = [];
}

/** A machine by id, or by name: the live one that has it, else the newest that had it. */
export class MachineParams {
  @IsId() readonly machine!: string;
}

export class ListMachinesQuery {
  @IsBoolean() readonly all: boolean = false;
  @IsWhole(1, 500) readonly limit: number = 100;
}

export class WaitMachineQuery {
  @IsIn(MACHINE_STATES, { each: true }) @ArrayMaxSize(6) readonly state: MachineState[] = ['ready', 'ended'];
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class IncarnationBody {
  /** The incarnation that is meant; null takes whichever it is in. */
  @Nullable() @IsWhole(1, 1_000_000) readonly incarnation: number | null = null;
}

export class IncarnationQuery extends IncarnationBody {}

export class EvidenceParams extends MachineParams {
  @IsIn(EVIDENCE_FILES) readonly file!: EvidenceFileName;
}

export class EvidenceQuery extends IncarnationQuery {
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
}

export class CloneBody extends IncarnationBody {
  /** Of the copy. */
  @Nullable() @IsId() readonly name: string | null = null;
}

export class UnshareQuery {
  /** Where the guest has the share. */
  @IsGuestPath() readonly guestPath!: string;
}

export class ShutdownBody extends IncarnationBody {
  @IsIn(['poweroff', 'reboot']) readonly mode: 'poweroff' | 'reboot' = 'poweroff';
  @IsWhole(0, 55_000) readonly waitMs: number = 30_000;
}

/** A command, for the bounded answer and for the stream alike. */
export class ExecBody extends IncarnationBody {
  @IsText(128 * 1024, 1) readonly command!: string;
  @Nullable() @IsGuestPath() readonly cwd: string | null = null;
  @Nullable() @IsEnvironment() readonly env: Record<string, string> | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  @Nullable() @IsWhole(1, 3_600_000) readonly timeoutMs: number | null = null;
  @IsWhole(1024, EXEC_REPLY_OUTPUT_BYTES) readonly maxOutputBytes: number = 64 * 1024;
}

/** A command for the shell on the second serial port. */
export class ExecSerialBody extends IncarnationBody {
  @IsText(SERIAL_COMMAND_MAX_BYTES, 1) readonly command!: string;
  /** A command that has not ended by then is sent an interrupt, and the request fails. */
  @IsWhole(SERIAL_TIMEOUT_MS.min, SERIAL_TIMEOUT_MS.max) readonly timeoutMs: number = SERIAL_TIMEOUT_MS.default;
}

export class FilesQuery extends IncarnationBody {
  @IsGuestPath() readonly path!: string;
  @IsIn(['tar', 'file']) readonly archive: 'tar' | 'file' = 'tar';
  @Nullable() @Matches(/^0?[0-7]{3}$/) readonly mode: string | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  @IsArray() @ArrayMaxSize(64) @IsString({ each: true }) @MaxLength(512, { each: true }) readonly exclude: string[] =
    [];
}
