import { hasCode, withDeadline, type MachineId } from '@inquest/kernel';
import { GuestAgentClient, synchronize, type GuestLink } from '@inquest/guest-link';
import type { JsonObject, QmpClient, QmpEvent } from '@inquest/qmp';
import { isObject } from '@inquest/qmp';
import {
  instanceFile,
  vmDriverError,
  type EvidenceRecorder,
  type InputAction,
  type InputHandle,
  type ScreenshotHandle,
  type SerialCommand,
  type SerialResult,
  type SerialShell,
  type VmEvent,
  type VmExit,
  type VmHandleCapabilities,
  type VmRecording,
  type VmSpec,
  type VmStatus,
} from '@inquest/vm-driver';
import type { MonitorUser, OwnedMachine } from '@inquest/vm-instance';
import { MachineScreen } from './screen';
import { SerialPort } from './serial-port';
import { unlinkMonitorSockets, unlinkNetworkSockets } from './connections';
import { endMigration, saveDeviceState } from './device-state';
import type { MonitorProcess } from './monitor-process';
import { connectUnix } from './unix-connection';

/** What the sockets of a dead process still hold arrives at once; this only bounds a fault. */
const DRAIN_MS = 5_000;
/** QEMU's connections close a moment before its death is reported. */
const DEATH_REPORT_MS = 5_000;
/** A monitor that was asked to quit takes some 15 ms. */
const QUIT_MS = 10_000;
/** A monitor that has just saved the state answers at once. */
const RESUME_MS = 10_000;
const STATUS_MAX_CHARS = 64;

/** What a machine is made of; it owns all of them. */
export interface QemuMachineParts {
  readonly spec: VmSpec;
  readonly process: MonitorProcess;
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
export class QemuMachine implements ScreenshotHandle, InputHandle, SerialShell, OwnedMachine {
  readonly machineId: MachineId;
  readonly incarnation: number;
  readonly pid: number;
  readonly capabilities: VmHandleCapabilities;
  readonly link: GuestLink;
  readonly exited: Promise<VmExit>;
  private readonly screen: MachineScreen;
  private readonly shellPort: SerialPort;
  private readonly listeners = new Set<(event: VmEvent) => void>();

  constructor(private readonly parts: QemuMachineParts) {
    const { spec, process, link } = parts;
    this.machineId = spec.machineId;
    this.incarnation = spec.incarnation;
    this.pid = process.pid;
    this.link = link;
    const { hasScreen = false } = spec;
    this.capabilities = { screenshot: hasScreen, input: hasScreen, serialShell: true };
    this.screen = new MachineScreen(spec, (name, args, signal) => this.command(name, args, signal));
    this.shellPort = new SerialPort(spec, () => this.isEnding());
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

  /** It was started to become one, and has nothing that ties it to this host. */
  get canBecomeTemplate(): boolean {
    return this.spec.isCapturable === true && this.whyTied === null;
  }

  /** What ties it to this host or to other machines, so that there cannot be two of it; null when nothing does. */
  get whyTied(): string | null {
    const { shares = [], network, disk } = this.spec;
    if (shares.length > 0) return 'it has shares';
    if (network !== undefined) return 'it is wired to other machines';
    return disk.isWritable === true ? 'it writes its disk itself' : null;
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

  screenshot(signal: AbortSignal): Promise<Uint8Array> {
    return this.screen.screenshot(signal);
  }

  sendInput(actions: readonly InputAction[], signal: AbortSignal): Promise<void> {
    return this.screen.send(actions, signal);
  }

  execSerial(command: SerialCommand, signal: AbortSignal): Promise<SerialResult> {
    return this.shellPort.exec(command, signal);
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
  async saveState(file: string, user: MonitorUser | null, signal: AbortSignal): Promise<void> {
    const { control, spec } = this.parts;
    await new GuestAgentClient(this.link).quiesce({ signal });
    await this.link.close();
    await leaveFreshSession(instanceFile(spec.directory, 'muxSocket'), signal);
    await this.pause(signal);
    const socketPath = instanceFile(spec.directory, 'stateSocket');
    const { memoryMib } = spec;
    await saveDeviceState(control, { socketPath, file, user, scope: 'devices', memoryMib }, signal);
  }

  /**
   * Saves state and memory into `file`, which must not exist, and has `copyDisk` copy the disk of the same moment. The
   * machine is paused meanwhile, and runs again in any case. Rejects with the monitor's or the system's error.
   */
  async saveCopy(
    { file, user }: { readonly file: string; readonly user: MonitorUser | null },
    copyDisk: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { control, spec } = this.parts;
    const { directory, memoryMib } = spec;
    const socketPath = instanceFile(directory, 'stateSocket');
    await this.pause(signal);
    try {
      await saveDeviceState(control, { socketPath, file, user, scope: 'devices-and-memory', memoryMib }, signal);
      await copyDisk();
    } finally {
      await this.resumeAfterCopy(AbortSignal.timeout(RESUME_MS));
    }
  }

  /** Also when the caller gave up in the middle: the source is not the copy's to keep. */
  private async resumeAfterCopy(signal: AbortSignal): Promise<void> {
    // Whether that worked shows in what follows.
    await endMigration(this.parts.control, signal).catch(() => undefined);
    await this.resume(signal);
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
    await unlinkMonitorSockets(spec.directory).catch(() => undefined);
    await unlinkNetworkSockets(spec.network).catch(() => undefined);
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
