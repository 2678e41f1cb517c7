import { IsNested, IsText, IsWhole } from '@inquest/contracts-base';
import { ExecOutputView } from './guest-verb.dto';
import { IncarnationRequest } from './machine.dto';

/** Of a command that is typed into a serial port. The bound is in bytes; no character has less than one. */
export const SERIAL_COMMAND_MAX_BYTES = 4096;
/** How long a command by the serial port may take: at least what typing it may take on a busy host. */
export const SERIAL_TIMEOUT_MS = { min: 1_000, max: 3_600_000, default: 60_000 } as const;
/** Output of a command by the serial port that is kept. Half of it head, half tail. */
export const SERIAL_OUTPUT_BYTES = 64 * 1024;

/** A command for a machine whose guest agent is gone: as root, in the shell on its second serial port. */
export class ExecSerialRequest extends IncarnationRequest {
  /** Run by the guest's `/bin/sh -c`, with an empty standard input. */
  @IsText(SERIAL_COMMAND_MAX_BYTES, 1) readonly command!: string;
  /** A command that has not ended by then is sent an interrupt, and the call fails. */
  @IsWhole(SERIAL_TIMEOUT_MS.min, SERIAL_TIMEOUT_MS.max) readonly timeoutMs: number = SERIAL_TIMEOUT_MS.default;
  /** Who asked, for the evidence of the machine. */
  @IsText(64) readonly by: string = 'caller';
}

/** A command that ran by the serial port. Failing is a result, not an error. */
export class ExecSerialView {
  /** 128 and the signal's number when a signal ended it. */
  @IsWhole(0, 255) readonly exitCode!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly durationMs!: number;
  /** Both outputs, mixed, without the control sequences of terminals. */
  @IsNested(() => ExecOutputView) readonly output!: ExecOutputView;
}
