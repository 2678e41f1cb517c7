import { IsBoolean, IsIn, IsString, Matches } from 'class-validator';
import {
  IsEnvironment,
  IsGuestPath,
  IsId,
  IsListOf,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
} from '@inquest/contracts-base';
import { IncarnationRequest, MachineRequest } from './machine.dto';

/** Characters of each side of a terminal. */
export const TERMINAL_SIDE = { min: 1, max: 1000 } as const;

/** The WebSocket subprotocol of a terminal: binary messages are bytes, text messages are JSON. */
export const TERMINAL_PROTOCOL = 'inquest.terminal.v1';
/** Offered beside it with a ticket appended: what a browser cannot send in a header, and what belongs in no address. */
export const TERMINAL_TICKET_PREFIX = 'inquest.ticket.';

export const TERMINAL_STATES = ['running', 'ended'] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

/** Why a terminal is in its state: its command exited, somebody closed it, nobody used it, or its machine went away. */
export const TERMINAL_REASONS = ['running', 'exited', 'closed', 'idle', 'lost'] as const;
export type TerminalReason = (typeof TERMINAL_REASONS)[number];

/** `control` may type, one viewer at a time; `view` only watches, for as long as it is attached. */
export const TERMINAL_MODES = ['control', 'view'] as const;
export type TerminalMode = (typeof TERMINAL_MODES)[number];

/** Starts a command with a terminal. It goes on without viewers, until it exits, is closed, or its machine ends. */
export class OpenTerminalRequest extends IncarnationRequest {
  /** Run by the guest's `/bin/sh -c`; null is a login shell: bash where the image has it, else sh. */
  @Nullable() @IsText(128 * 1024, 1) readonly command: string | null = null;
  @Nullable() @IsGuestPath() readonly cwd: string | null = null;
  /** Values are credentials as often as not: they are logged nowhere. */
  @Nullable() @IsEnvironment() readonly env: Record<string, string> | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly cols: number = 80;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly rows: number = 24;
  /** What the viewer's terminal is, for `TERM`. */
  @IsString() @Matches(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/) readonly term: string = 'xterm-256color';
}

export class TerminalRequest extends MachineRequest {
  @IsId() readonly terminalId!: string;
}

export class TerminalView {
  @IsId() readonly terminalId!: string;
  @IsId() readonly machineId!: string;
  @IsWhole(1, 1_000_000) readonly incarnation!: number;
  /** Null for the login shell. */
  @Nullable() @IsText(128 * 1024) readonly command!: string | null;
  @IsIn(TERMINAL_STATES) readonly state!: TerminalState;
  @IsIn(TERMINAL_REASONS) readonly reason!: TerminalReason;
  /** The same for people. */
  @IsText(8192) readonly message!: string;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly cols!: number;
  @IsWhole(TERMINAL_SIDE.min, TERMINAL_SIDE.max) readonly rows!: number;
  @IsTimeMs() readonly openedAtMs!: number;
  @Nullable() @IsTimeMs() readonly endedAtMs!: number | null;
  /** Of the command; null while it runs, and when it did not exit by itself. */
  @Nullable() @IsWhole(0, 255) readonly exitCode!: number | null;
  @Nullable() @IsText(20) readonly signal!: string | null;
  @IsWhole(0, 10_000) readonly viewers!: number;
  /** One of the viewers controls it. */
  @IsBoolean() readonly isControlled!: boolean;
  /** Everything that it has shown so far; the last part of it is kept. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly outputBytes!: number;
}

/** Those that run, and those that ended a short while ago, oldest first. */
export class TerminalList {
  @IsListOf(() => TerminalView, 100) readonly items!: TerminalView[];
}

export class AttachTerminalRequest extends TerminalRequest {
  @IsIn(TERMINAL_MODES) readonly mode: TerminalMode = 'control';
  /** Of the output, for who was attached before: begins there, where that is still kept. Null begins with all that is. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number | null = null;
}

/** Lets its holder attach to a terminal, once and soon. Never logged. */
export class TerminalTicket {
  @IsId() readonly ticket!: string;
  @IsId() readonly machineId!: string;
  @IsTimeMs() readonly expiresAtMs!: number;
}

/** Asks the node of a machine where a ticket is to be used. */
export class LocateTerminalRequest extends MachineRequest {
  @IsId() readonly ticket!: string;
}
