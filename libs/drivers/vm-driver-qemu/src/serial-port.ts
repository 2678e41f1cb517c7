import type { Socket } from 'node:net';
import { deadlineSignal, hasCode } from '@inquest/kernel';
import {
  checkSerialCommand,
  instanceFile,
  vmDriverError,
  type SerialCommand,
  type SerialResult,
  type VmSpec,
} from '@inquest/vm-driver';
import { runInSerialShell } from './serial-dialogue';
import { connectUnix } from './unix-connection';

/** QEMU takes a connection as soon as it has let go of the one before. */
const CONNECT_MS = 5_000;

/**
 * The second serial port of one machine. It is connected only while a command is run: what the guest writes at other
 * times is lost, and holds nobody up.
 */
export class SerialPort {
  private isBusy = false;

  /** `isEnding` tells whether a broken connection means that the machine has ended. */
  constructor(
    private readonly spec: Pick<VmSpec, 'machineId' | 'directory'>,
    private readonly isEnding: () => Promise<boolean>,
  ) {}

  /** See `SerialShell.execSerial`. */
  async exec(command: SerialCommand, signal: AbortSignal): Promise<SerialResult> {
    checkSerialCommand(command);
    const { machineId } = this.spec;
    if (this.isBusy) {
      throw vmDriverError('VM_SERIAL_BUSY', `a command is run by the serial port of machine ${machineId} already`);
    }
    this.isBusy = true;
    try {
      return await this.connectAndRun(command, signal);
    } catch (e) {
      const isBroken = hasCode(e, 'VM_SERIAL_GARBLED');
      if (!isBroken || !(await this.isEnding())) throw e;
      const message = `machine ${machineId} has ended; what became of the command is unknown`;
      throw vmDriverError('VM_MACHINE_ENDED', message, { machineId }, e);
    } finally {
      this.isBusy = false;
    }
  }

  private async connectAndRun(command: SerialCommand, signal: AbortSignal): Promise<SerialResult> {
    const port = await this.connect(signal);
    try {
      return await runInSerialShell(port, this.spec.machineId, command, signal);
    } finally {
      port.destroy();
    }
  }

  private async connect(signal: AbortSignal): Promise<Socket> {
    const { machineId, directory } = this.spec;
    try {
      return await connectUnix(instanceFile(directory, 'shellSocket'), deadlineSignal(CONNECT_MS, signal));
    } catch (e) {
      if (signal.aborted) throw e;
      const message = `the second serial port of machine ${machineId} cannot be reached: ${(e as Error).message}`;
      throw vmDriverError('VM_SERIAL_GARBLED', message, { machineId }, e);
    }
  }
}
