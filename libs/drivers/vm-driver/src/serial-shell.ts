import type { BoundedOutput } from '@inquest/guest-link';
import { vmDriverError } from './errors';
import type { VmHandle } from './vm-handle';

/** It is typed, character by character, into an emulated port; a line of it takes some 100 ms. */
export const SERIAL_COMMAND_MAX_BYTES = 4096;

/** A command for the shell on a machine's second serial port. */
export interface SerialCommand {
  /** For `/bin/sh -c`; 1 to `SERIAL_COMMAND_MAX_BYTES` bytes of UTF-8 without a NUL. Its standard input is empty. */
  readonly command: string;
  /** From the call to the command's end. */
  readonly timeoutMs: number;
  /** Half of it is kept of the head of the output and half of the tail. */
  readonly maxOutputBytes: number;
}

/** How it ended, as the guest says. */
export interface SerialResult {
  /** 0 to 255; a shell's 128 and the signal's number when a signal ended it. */
  readonly exitCode: number;
  /** Both outputs of the command, mixed, without the control sequences of terminals. Hostile text. */
  readonly output: BoundedOutput;
}

/** A machine in which a command can be run although its guest agent is gone. */
export interface SerialShell extends VmHandle {
  /**
   * Types the command into the shell that the guest offers on its second serial port, and waits for its end. Rejects with
   * `VM_INPUT_INVALID` and `VM_SERIAL_BUSY` (nothing was typed), `VM_SERIAL_SILENT` and `VM_SERIAL_GARBLED` (the
   * command was not run, or what became of it is unknown, as the message says), `VM_SERIAL_TIMEOUT` (it was sent an
   * interrupt), `VM_MACHINE_ENDED`, and `OPERATION_ABORTED` when `signal` aborts (it was sent an interrupt, too).
   */
  execSerial(command: SerialCommand, signal: AbortSignal): Promise<SerialResult>;
}

export const supportsSerialShell = (machine: VmHandle): machine is SerialShell => machine.capabilities.serialShell;

/** The machine as one with a second serial port, or `VM_CAPABILITY_MISSING`. */
export function requireSerialShell(machine: VmHandle): SerialShell {
  if (supportsSerialShell(machine)) return machine;
  const { machineId } = machine;
  const message = `machine ${machineId} has no second serial port: its driver gives none`;
  throw vmDriverError('VM_CAPABILITY_MISSING', message, { machineId, capability: 'serialShell' });
}

/** Throws `VM_INPUT_INVALID` for a command that cannot be typed. */
export function checkSerialCommand({ command }: SerialCommand): void {
  const sizeBytes = Buffer.byteLength(command);
  if (sizeBytes > 0 && sizeBytes <= SERIAL_COMMAND_MAX_BYTES && !command.includes('\0')) return;
  const bounds = `1 to ${SERIAL_COMMAND_MAX_BYTES} bytes without a NUL`;
  throw vmDriverError('VM_INPUT_INVALID', `a command for a serial port has ${bounds}; this one has ${sizeBytes} bytes`);
}
