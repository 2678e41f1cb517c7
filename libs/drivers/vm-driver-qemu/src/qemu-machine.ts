import { hasCode, withDeadline, type MachineId } from '@inquest/kernel';
import { GuestAgentClient, synchronize, type GuestLink } from '@inquest/guest-link';
import type { JsonObject, QmpClient, QmpEvent } from '@inquest/qmp';
import { isObject } from '@inquest/qmp';
import {
  instanceFile,
  vmDriverError,
  type EvidenceRecorder,
  type VmEvent,
  type VmExit,
  type VmHandle,
  type VmRecording,
  type VmSpec,
  type VmStatus,
} from '@inquest/vm-driver';
import { saveDeviceState } from './device-state';
import { unlinkSockets } from './instance-directory';
import type { QemuUser } from './qemu-options';
import type { QemuProcess } from './qemu-process';
import { connectUnix } from './unix-connection';

/** What the sockets of a dead process still hold arrives at once; this only bounds a fault. */
const DRAIN_MS = 5_000;
/** QEMU's connections close a moment before its death is reported. */
const DEATH_REPORT_MS = 5_000;
/** A monitor that was asked to quit takes some 15 ms. */
const QUIT_MS = 10_000;
const STATUS_MAX_CHARS = 64;

/** What a machine is made of; it owns all of them. */
export interface QemuMachineParts {
  readonly spec: VmSpec;
  readonly process: QemuProcess;
  readonly evidence: EvidenceRecorder;
  /** Monitor that only delivers events. */
  readonly recorder: QmpClient;
  /** Monitor for commands. */
  readonly control: QmpClient;
  /** Settles when the serial console has ended and all of it was handed to the evidence. */
  readonly consoleEnded: Promise<void>;
  readonly link: GuestLink;
}

/** One running QEMU. */
export class QemuMachine implements VmHandle {
  readonly machineId: MachineId;
  readonly incarnation: number;
  readonly pid: number;
  /** These machines have no display and no input devices. */
  readonly capabilities = { screenshot: false, input: false } as const;
  readonly link: GuestLink;
  readonly exited: Promise<VmExit>;
  private readonly listeners = new Set<(event: VmEvent) => void>();

  constructor(private readonly parts: QemuMachineParts) {
    const { spec, process, link } = parts;
    this.machineId = spec.machineId;
    this.incarnation = spec.incarnation;
    this.pid = process.identity.pid;
    this.link = link;
    parts.recorder.onEvent((event) => this.tell(event));
    this.exited = this.observeEnd();
    void this.watchRecorder();
  }

  get recording(): VmRecording {
    return this.parts.evidence.recording;
  }

  /** What it was started with. */
  get spec(): VmSpec {
    return this.parts.spec;
  }

  /** True once QEMU was observed gone, which is a little before `exited` settles. */
  get hasEnded(): boolean {
    return this.parts.process.hasExited;
  }

  async status(signal: AbortSignal): Promise<VmStatus> {
    try {
      const answer = await this.parts.control.execute('query-status', {}, { signal });
      const status = isObject(answer) ? answer['status'] : null;
      return { status: typeof status === 'string' ? status.slice(0, STATUS_MAX_CHARS) : null };
    } catch {
      return { status: null };
    }
  }

  consoleTail(maxBytes: number): Uint8Array {
    return this.parts.evidence.serial.recent(maxBytes);
  }

  async pause(signal: AbortSignal): Promise<void> {
    await this.command('stop', {}, signal);
  }

  async resume(signal: AbortSignal): Promise<void> {
    await this.command('cont', {}, signal);
  }

  async stop({ graceMs }: { readonly graceMs: number }): Promise<VmExit> {
    if (graceMs > 0) {
      const ended = await withDeadline(this.exited, graceMs, 'the end of the machine').catch(() => null);
      if (ended !== null) return ended;
    }
    await this.parts.process.kill();
    return this.exited;
  }

  /**
   * Saves the device state into `file`, which must not exist, from which any number of clones can continue; memory and
   * disk are then complete in their files. The machine cannot run any more: `quit` it. Rejects with the guest's, the
   * monitor's or the system's error; the machine is then to be stopped.
   */
  async saveState(file: string, user: QemuUser | null, signal: AbortSignal): Promise<void> {
    const { control, spec } = this.parts;
    await new GuestAgentClient(this.link).quiesce({ signal });
    await this.link.close();
    await leaveFreshSession(instanceFile(spec.directory, 'muxSocket'), signal);
    await this.pause(signal);
    await saveDeviceState(control, { socketPath: instanceFile(spec.directory, 'stateSocket'), file, user }, signal);
  }

  /** Ends the monitor in an orderly way; one that does not go is killed. Rejects only with `VM_PROCESS_UNKILLABLE`. */
  async quit(): Promise<VmExit> {
    // A monitor that is gone before it answers has done what was asked.
    await this.parts.control.execute('quit').catch(() => undefined);
    return this.stop({ graceMs: QUIT_MS });
  }

  onEvent(listener: (event: VmEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async command(name: string, args: JsonObject, signal: AbortSignal): Promise<void> {
    const { machineId } = this;
    try {
      await this.parts.control.execute(name, args, { signal });
    } catch (e) {
      if (hasCode(e, 'QMP_CLOSED') && (await this.isEnding())) {
        throw vmDriverError(
          'VM_MACHINE_ENDED',
          `machine ${machineId} has ended; ${name} was not done`,
          { machineId },
          e,
        );
      }
      const code = hasCode(e, 'QMP_COMMAND_FAILED') ? 'VM_COMMAND_REFUSED' : 'VM_MONITOR_SILENT';
      throw vmDriverError(code, `${name} of machine ${machineId} failed: ${(e as Error).message}`, { machineId }, e);
    }
  }

  private async isEnding(): Promise<boolean> {
    return withDeadline(this.parts.process.exited, DEATH_REPORT_MS, 'the end of QEMU').then(
      () => true,
      () => false,
    );
  }

  private tell({ name, atMs, data, raw }: QmpEvent): void {
    const event: VmEvent = { name, atMs: atMs ?? Date.now(), data, raw };
    for (const listener of [...this.listeners]) {
      try {
        listener(event);
      } catch {
        // A listener's failure is its own; the recording goes on.
      }
    }
  }

  /** A recorder that lost its monitor while QEMU lives misses what happens from then on, and that has to be said. */
  private async watchRecorder(): Promise<void> {
    await this.parts.recorder.closed;
    if (!(await this.isEnding())) this.parts.evidence.events.markLost();
  }

  private async observeEnd(): Promise<VmExit> {
    const { process, evidence, recorder, control, consoleEnded, link, spec } = this.parts;
    const exit = await process.exited;
    const drained = Promise.all([recorder.closed, consoleEnded]);
    await withDeadline(drained, DRAIN_MS, 'the last events').catch(() => evidence.events.markLost());
    control.close();
    recorder.close();
    await withDeadline(link.close(), DRAIN_MS, 'the end of the guest link').catch(() => undefined);
    await evidence.close();
    // Left to destroyInstance when it fails: the end of the machine is told in any case.
    await unlinkSockets(spec.directory).catch(() => undefined);
    return exit;
  }
}

/**
 * Leaves the guest agent in a session of which nothing was used. The agent of a clone may learn of the host's leaving
 * only after the host is back; in the middle of an old session it would then take the handshake for data, but at the
 * beginning of one it takes it for what it is.
 */
async function leaveFreshSession(muxSocket: string, signal: AbortSignal): Promise<void> {
  const port = await connectUnix(muxSocket, signal);
  await synchronize(port, signal);
  port.destroy();
}
