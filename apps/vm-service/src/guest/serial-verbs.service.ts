import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SERIAL_OUTPUT_BYTES, vmError, type ExecSerialRequest, type ExecSerialView } from '@inquest/contracts-vm';
import { hasCode, isDomainError, withDeadline } from '@inquest/kernel';
import { requireSerialShell, type SerialResult } from '@inquest/vm-driver';
import type { LiveMachine } from '../machines/live-machine';
import { LiveMachines } from './live-machines';
import { execOutputView } from './reply-text';

/** What the driver may add to a command's time limit, to interrupt it. */
const INTERRUPT_MARGIN_MS = 10_000;
/** From the end of a machine's process to the end of its evidence. */
const END_MS = 10_000;

/** Commands by the second serial port of a machine, for which its guest agent need not live. */
@Injectable()
export class SerialVerbsService {
  constructor(private readonly machines: LiveMachines) {}

  /**
   * A command to its end. Throws what `LiveMachines.require` and `SerialShell.execSerial` throw, `MACHINE_LOST` when the
   * machine went with it, and `MACHINE_CAPABILITY_MISSING` when it has no such port.
   */
  async exec(request: ExecSerialRequest): Promise<ExecSerialView> {
    const machine = await this.machines.require(request);
    const startedMs = performance.now();
    const { exitCode, output } = await this.machines.run(machine, () => execOn(machine, request));
    return { exitCode, durationMs: Math.round(performance.now() - startedMs), output: execOutputView(output) };
  }
}

async function execOn(machine: LiveMachine, request: ExecSerialRequest): Promise<SerialResult> {
  const { handle } = machine;
  const { command, timeoutMs, by } = request;
  const signal = AbortSignal.timeout(timeoutMs + INTERRUPT_MARGIN_MS);
  try {
    const shell = requireSerialShell(handle);
    await machine.recordInput({ action: 'exec_serial', by, reason: fingerprint(command) });
    return await shell.execSerial({ command, timeoutMs, maxOutputBytes: SERIAL_OUTPUT_BYTES }, signal);
  } catch (e) {
    // Once its end is known it can be told how it came about.
    if (hasCode(e, 'VM_MACHINE_ENDED')) await withDeadline(handle.exited, END_MS, 'the end').catch(() => undefined);
    if (!hasCode(e, 'VM_CAPABILITY_MISSING') || !isDomainError(e)) throw e;
    throw vmError('MACHINE_CAPABILITY_MISSING', e.message, e.details, e);
  }
}

/** Commands carry secrets: the evidence tells which one it was to whoever knows it, and what it said to nobody. */
function fingerprint(command: string): string {
  const bytes = Buffer.from(command);
  return `${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`;
}
