import { abortable, hasCode, withDeadline, type MachineId } from '@inquest/kernel';
import type { GuestLink } from '@inquest/guest-link';
import type { FakeGuest } from '@inquest/guest-link/testing';
import { vmDriverError } from '../errors';
import { EvidenceRecorder } from '../recording/evidence-recorder';
import type { VmEvent, VmExit, VmHandleCapabilities, VmRecording, VmStatus } from '../vm-handle';
import type { VmSpec } from '../vm-specification';
import type { InputAction, InputHandle, ScreenshotHandle } from '../capabilities';
import { checkSerialCommand, type SerialCommand, type SerialResult, type SerialShell } from '../serial-shell';
import { blankPng } from './blank-png';
import { playSerialShell } from './fake-serial-shell';
import { FAKE_ENDINGS, type FakeEnding, type FakeEndingName } from './fake-endings';

const BANNER = '[    0.000000] Linux version 6.1.0-fake (fake@inquest)\r\n';

/** The display of a fake machine that has one. */
export const FAKE_SCREEN = { width: 640, height: 400 } as const;

/** A machine without a processor: the test plays the guest. Its evidence files are real. */
export class FakeMachine implements ScreenshotHandle, InputHandle, SerialShell {
  readonly machineId: MachineId;
  readonly incarnation: number;
  readonly capabilities: VmHandleCapabilities;
  /** What was sent to its pointer and keyboard. */
  readonly inputs: InputAction[] = [];
  /** The shell on its second serial port; null = nobody answers there. */
  serialShell: ((command: string) => Promise<SerialResult>) | null = playSerialShell;
  readonly link: GuestLink;
  readonly exited: Promise<VmExit>;
  private readonly listeners = new Set<(event: VmEvent) => void>();
  private settleExited: (exit: VmExit) => void = () => undefined;
  private writing: Promise<void> = Promise.resolve();
  private isRunning = true;
  private isFrozen = false;
  private isSerialBusy = false;
  private ending: Promise<void> | null = null;
  /** What the monitor itself records while no process does; null while one does. */
  private unrecorded: ((evidence: EvidenceRecorder) => Promise<void> | void)[] | null = null;

  constructor(
    readonly spec: VmSpec,
    readonly pid: number,
    /** The guest agent behind `link`. */
    readonly guest: FakeGuest,
    private readonly evidence: EvidenceRecorder,
    /** It boots, goes on where another machine stood, or runs already, for another process. */
    birth: 'booted' | 'continued' | 'adopted',
  ) {
    this.machineId = spec.machineId;
    this.incarnation = spec.incarnation;
    this.link = guest.link;
    const { hasScreen = false } = spec;
    this.capabilities = { screenshot: hasScreen, input: hasScreen, serialShell: true };
    this.exited = new Promise((resolve) => (this.settleExited = resolve));
    if (birth !== 'adopted') this.emitEvent('RESUME');
    if (birth === 'booted') this.print(BANNER);
  }

  get recording(): VmRecording {
    return this.evidence.recording;
  }

  /** True from the first moment of its end. */
  get hasEnded(): boolean {
    return this.ending !== null;
  }

  /** It was started to become one, and has nothing that ties it to this host. */
  get canBecomeTemplate(): boolean {
    return this.spec.isCapturable === true && this.canBeCopied;
  }

  /** Nothing ties it to this host or to other machines. */
  get canBeCopied(): boolean {
    const { shares = [], network, disk } = this.spec;
    return shares.length === 0 && network === undefined && disk.isWritable !== true;
  }

  /** The guest writes on its console. */
  print(text: string): void {
    this.writing = this.writing.then(() => this.record(({ serial }) => serial.append(Buffer.from(text))));
  }

  /** The monitor sends an event. */
  emitEvent(name: string, data: Readonly<Record<string, unknown>> = {}): void {
    const atMs = Date.now();
    const timestamp = { seconds: Math.floor(atMs / 1000), microseconds: (atMs % 1000) * 1000 };
    const raw = JSON.stringify({ timestamp, event: name, ...(Object.keys(data).length === 0 ? {} : { data }) });
    void this.record(({ events }) => events.append(raw));
    for (const listener of [...this.listeners]) {
      try {
        listener({ name, atMs, data, raw });
      } catch {
        // As promised: a listener's failure harms nobody else.
      }
    }
  }

  /** Its process dies without a word, as under SIGKILL; the machine runs on. */
  async abandon(): Promise<void> {
    await this.writing;
    this.unrecorded = [];
    await Promise.all([this.evidence.close(), this.link.close()]);
  }

  /** The evidence of an abandoned machine, up to date again. */
  async resumeEvidence(): Promise<EvidenceRecorder> {
    const { evidenceDirectory } = this.spec;
    const { recorder } = await EvidenceRecorder.resume(evidenceDirectory, this.recording.serialTotalBytes);
    for (const write of this.unrecorded ?? []) await write(recorder);
    return recorder;
  }

  /** The monitor stops answering, as under SIGSTOP; the machine can still be killed. */
  freezeMonitor(): void {
    this.isFrozen = true;
  }

  /** The machine ends in one of the known ways. Resolves once `exited` has settled. */
  async end(name: FakeEndingName): Promise<VmExit> {
    this.ending ??= this.play(FAKE_ENDINGS[name]);
    return this.exited;
  }

  status(signal: AbortSignal): Promise<VmStatus> {
    if (this.ending !== null || this.isFrozen || signal.aborted) return Promise.resolve({ status: null });
    return Promise.resolve({ status: this.isRunning ? 'running' : 'paused' });
  }

  consoleTail(maxBytes: number): Uint8Array {
    return this.evidence.serial.recent(maxBytes);
  }

  async pause(signal: AbortSignal): Promise<void> {
    await this.assertAnswers('stop', signal);
    if (this.isRunning) this.emitEvent('STOP');
    this.isRunning = false;
  }

  async resume(signal: AbortSignal): Promise<void> {
    await this.assertAnswers('cont', signal);
    if (!this.isRunning) this.emitEvent('RESUME');
    this.isRunning = true;
  }

  async screenshot(signal: AbortSignal): Promise<Uint8Array> {
    await this.assertAnswers('screendump', signal);
    return blankPng(FAKE_SCREEN);
  }

  async sendInput(actions: readonly InputAction[], signal: AbortSignal): Promise<void> {
    for (const action of actions) {
      await this.assertAnswers('input-send-event', signal);
      this.inputs.push(action);
    }
  }

  async execSerial(command: SerialCommand, signal: AbortSignal): Promise<SerialResult> {
    checkSerialCommand(command);
    const { machineId } = this;
    await this.assertAnswers('execSerial', signal);
    if (this.isSerialBusy) throw vmDriverError('VM_SERIAL_BUSY', `the port of machine ${machineId} is busy`);
    if (this.serialShell === null) throw vmDriverError('VM_SERIAL_SILENT', `no shell in machine ${machineId} answers`);
    this.isSerialBusy = true;
    try {
      const running = abortable(Promise.race([this.serialShell(command.command), this.lost()]), signal, 'the command');
      return await withDeadline(running, command.timeoutMs, 'the command').catch((e: unknown) => {
        if (!hasCode(e, 'DEADLINE_EXCEEDED')) throw e;
        throw vmDriverError('VM_SERIAL_TIMEOUT', `the command in machine ${machineId} did not end`, { machineId }, e);
      });
    } finally {
      this.isSerialBusy = false;
    }
  }

  async stop({ graceMs }: { readonly graceMs: number }): Promise<VmExit> {
    if (graceMs > 0) {
      const ended = await withDeadline(this.exited, graceMs, 'the end of the machine').catch(() => null);
      if (ended !== null) return ended;
    }
    return this.end('killed');
  }

  onEvent(listener: (event: VmEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private record(write: (evidence: EvidenceRecorder) => Promise<void> | void): Promise<void> | void {
    return this.unrecorded === null ? write(this.evidence) : void this.unrecorded.push(write);
  }

  /** Rejects once it has ended. */
  private async lost(): Promise<never> {
    const { machineId } = this;
    await this.exited;
    throw vmDriverError('VM_MACHINE_ENDED', `machine ${machineId} ended with the command`, { machineId });
  }

  private async assertAnswers(command: string, signal: AbortSignal): Promise<void> {
    const { machineId } = this;
    if (this.ending !== null) {
      throw vmDriverError('VM_MACHINE_ENDED', `machine ${machineId} has ended; ${command} was not done`, { machineId });
    }
    if (!this.isFrozen && !signal.aborted) return;
    await abortable(new Promise(() => undefined), signal, command).catch((e: unknown) => {
      throw vmDriverError('VM_MONITOR_SILENT', `${command} of machine ${machineId} got no answer`, { machineId }, e);
    });
  }

  private async play({ console, events, exit }: FakeEnding): Promise<void> {
    if (console !== '') this.print(console);
    for (const event of events) this.emitEvent(event.name, event.data);
    await this.link.close();
    await this.writing;
    await this.evidence.close();
    this.settleExited({ ...exit, stderrTail: '', atMs: Date.now() });
  }
}
