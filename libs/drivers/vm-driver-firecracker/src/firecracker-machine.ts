import { FRAME_PORT } from '@inquest/frame-protocol';
import { delay, hasCode, withDeadline, type MachineId } from '@inquest/kernel';
import type { GuestLink, HybridVsockLink } from '@inquest/guest-link';
import {
  vmDriverError,
  type EvidenceRecorder,
  type VmExit,
  type VmRecording,
  type VmSpec,
  type VmStatus,
} from '@inquest/vm-driver';
import { unlinkSockets, type OwnedMachine } from '@inquest/vm-instance';
import type { FirecrackerProcess } from './firecracker-process';

/** What the console pipe of a dead process still holds arrives at once; this only bounds a fault. */
const DRAIN_MS = 5_000;
/** A signal takes effect at once, on a starved host later. */
const SIGNAL_MS = 10_000;
/** No event tells that a process has stopped which is not our parent's to trace. */
const SIGNAL_POLL_MS = 5;
/**
 * How long a kernel that has said its last words is given to prove that it lives. One that lives accepts or refuses a
 * stream within milliseconds, and Firecracker itself gives up on one that does not only after 2 s.
 */
const HALT_PROOF_MS = 1_000;

/** What a machine is made of; it owns all of them. */
export interface FirecrackerMachineParts {
  readonly spec: VmSpec;
  readonly process: FirecrackerProcess;
  readonly evidence: EvidenceRecorder;
  readonly vsock: HybridVsockLink;
  /** Over `vsock`. */
  readonly link: GuestLink;
  /** Settles when the serial console has ended and all of it was handed to the evidence. */
  readonly consoleEnded: Promise<void>;
}

/**
 * One running Firecracker. Without its API there is nothing to ask: it is paused and let go on by signals, its status
 * is that of its process, and it has no events; `events.jsonl` stays empty.
 */
export class FirecrackerMachine implements OwnedMachine {
  readonly machineId: MachineId;
  readonly incarnation: number;
  readonly pid: number;
  readonly capabilities = { screenshot: false, input: false, serialShell: false } as const;
  readonly link: GuestLink;
  readonly exited: Promise<VmExit>;

  constructor(private readonly parts: FirecrackerMachineParts) {
    const { spec, process, link } = parts;
    this.machineId = spec.machineId;
    this.incarnation = spec.incarnation;
    this.pid = process.pid;
    this.link = link;
    this.exited = this.observeEnd();
  }

  get recording(): VmRecording {
    return this.parts.evidence.recording;
  }

  get hasEnded(): boolean {
    return this.parts.process.hasExited;
  }

  async status(signal: AbortSignal): Promise<VmStatus> {
    const isStopped = signal.aborted ? null : await this.parts.process.isStopped();
    return { status: isStopped === null ? null : isStopped ? 'paused' : 'running' };
  }

  consoleTail(maxBytes: number): Uint8Array {
    return this.parts.evidence.serial.recent(maxBytes);
  }

  /** As promised by `VmHandle`. The guest's clock is the host's, so a guest that goes on finds that time has passed. */
  async pause(signal: AbortSignal): Promise<void> {
    await this.signalGroup('SIGSTOP', signal);
  }

  async resume(signal: AbortSignal): Promise<void> {
    await this.signalGroup('SIGCONT', signal);
  }

  async stop({ graceMs }: { readonly graceMs: number }): Promise<VmExit> {
    if (graceMs > 0) {
      const ended = await withDeadline(this.exited, graceMs, 'the end of the machine').catch(() => null);
      if (ended !== null) return ended;
    }
    await this.parts.process.kill();
    return this.exited;
  }

  /** There are no events, so `listener` is never called. */
  onEvent(): () => void {
    return () => undefined;
  }

  /**
   * Ends a machine whose kernel has said its last words: on x86 Firecracker outlives a guest that powers itself off or
   * halts, with processors that never run again. Words that were put into a living kernel's mouth change nothing. What
   * the end means is for a verdict to say, by the console.
   */
  async endIfHalted(): Promise<void> {
    if (await this.isKernelAlive()) return;
    // One that cannot be killed is still there for whoever stops or destroys the machine.
    await this.parts.process.kill().catch(() => undefined);
  }

  private async isKernelAlive(): Promise<boolean> {
    try {
      (await this.parts.vsock.connect(FRAME_PORT, AbortSignal.timeout(HALT_PROOF_MS))).destroy();
      return true;
    } catch (e) {
      return !hasCode(e, 'OPERATION_ABORTED');
    }
  }

  private async signalGroup(signal: 'SIGSTOP' | 'SIGCONT', callerSignal: AbortSignal): Promise<void> {
    const { machineId } = this;
    const { process } = this.parts;
    const waiting = AbortSignal.any([callerSignal, AbortSignal.timeout(SIGNAL_MS)]);
    const wanted = signal === 'SIGSTOP';
    let isStopped = process.signalGroup(signal) ? await process.isStopped() : null;
    while (isStopped === !wanted && !waiting.aborted) {
      await delay(SIGNAL_POLL_MS, waiting).catch(() => undefined);
      isStopped = await process.isStopped();
    }
    if (isStopped === wanted) return;
    const code = isStopped === null ? 'VM_MACHINE_ENDED' : 'VM_MONITOR_SILENT';
    const how = isStopped === null ? 'has ended' : 'does not react';
    throw vmDriverError(code, `machine ${machineId} ${how}; ${signal} has no effect`, { machineId });
  }

  private async observeEnd(): Promise<VmExit> {
    const { process, evidence, consoleEnded, link, spec } = this.parts;
    const exit = await process.exited;
    await withDeadline(consoleEnded, DRAIN_MS, 'the end of the console').catch(() => evidence.events.markLost());
    await withDeadline(link.close(), DRAIN_MS, 'the end of the guest link').catch(() => undefined);
    await evidence.close();
    // Left to destroyInstance when it fails: the end of the machine is told in any case.
    await unlinkSockets(spec.directory).catch(() => undefined);
    return exit;
  }
}
