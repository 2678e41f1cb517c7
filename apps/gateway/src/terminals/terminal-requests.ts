import { IsIn, IsString, Matches } from 'class-validator';
import { IsEnvironment, IsGuestPath, IsId, IsText, IsWhole, Nullable } from '@inquest/contracts-base';
import { TERMINAL_MODES, TERMINAL_SIDE, type TerminalMode } from '@inquest/contracts-vm';

/** A terminal of a machine. */
export class TerminalParams {
  @IsId() readonly machine!: string;
  @IsId() readonly terminal!: string;
}

/** Body of `POST /v1/machines/{machine}/terminals`. */
export class NewTerminalBody {
  /** Run by the guest's `/bin/sh -c`; null is a login shell. */
  @Nullable() @IsText(128 * 1024, 1) readonly command: string | null = null;
  @Nullable() @IsGuestPath() readonly cwd: string | null = null;
  @Nullable() @IsEnvironment() readonly env: Record<string, string> | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly cols: number = 80;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly rows: number = 24;
  @IsString() @Matches(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/) readonly term: string = 'xterm-256color';
  @Nullable() @IsWhole(1, 1_000_000) readonly incarnation: number | null = null;
}

/** Body of `POST /v1/machines/{machine}/terminals/{terminal}/attach`. */
export class AttachBody {
  @IsIn(TERMINAL_MODES) readonly mode: TerminalMode = 'control';
  /** Of the output, for who was attached before; null begins with all that is kept. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number | null = null;
}
