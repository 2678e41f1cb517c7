import { Logger } from '@nestjs/common';
import { vmError, type MachineOrigin } from '@inquest/contracts-vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { deadlineSignal, delay, hasCode, type MachineId } from '@inquest/kernel';
import { peerAddress, type VmExit, type VmHandle } from '@inquest/vm-driver';
import type { ActionRecord, EvidenceMeta } from '@inquest/verdict-engine';
import type { MachineShare } from '../shares/machine-share';
import type { MachineEgress } from '../egress/machine-egress';
import { START_TIMEOUT_MS } from './machine-specification';
import type { EvidenceBundle } from '../evidence/evidence-bundle';

/** One try of the first ping. The link itself waits for the guest to come up. */
const FIRST_PING_MS = 5_000;
/** A mount takes some ms; the guest may be emulated and busy. */
const MOUNT_TIMEOUT_MS = 20_000;
/** The other machine boots at the same time, and may be emulated and slower; the agent waits no longer than this. */
const REACH_TIMEOUT_MS = 60_000;
/** Between two tries of which the first was refused at once. */
const PING_PAUSE_MS = 100;
/** Beats come every second; a guest under emulation on a busy host may be late, but not this late. */
const MAX_SILENCE_MS = 30_000;
/** Before an agent that fell silent or whose link closed is watched again. */
const REWATCH_PAUSE_MS = 1_000;
/** Recorded inputs of one incarnation, some 150 bytes each: a runaway caller must not fill the disk of the evidence. */
const MAX_RECORDED_INPUTS = 50_000;
/** An active probe: alive means answered within this. */
const PROBE_DEADLINE_MS = 2_000;

/** What is known of an incarnation from its start on. */
export interface LiveMachineFacts {
  readonly evidence: EvidenceBundle;
  readonly egress: MachineEgress;
  readonly origin: MachineOrigin;
  readonly startedAtMs: number;
  readonly driver: EvidenceMeta['driver'];
  /** Directories of the host that it was given. */
  readonly shares: readonly MachineShare[];
}

/** One incarnation that runs in this process: its driver handle, its agent, its evidence, its ways out. */
export class LiveMachine {
  /** Aborts when its process is gone. */
  readonly ended: AbortSignal;
  readonly agent: GuestAgentClient;
  private readonly log = new Logger(LiveMachine.name);
  private seenAtMs: number | null = null;
  private recordedInputs = 0;
  private isProxyUp = false;
  private isStopping = false;
  private isHeard = true;
  private readonly leaving = new AbortController();

  constructor(
    readonly handle: VmHandle,
    private readonly facts: LiveMachineFacts,
  ) {
    this.agent = new GuestAgentClient(handle.link);
    const controller = new AbortController();
    this.ended = controller.signal;
    void handle.exited.then(() => controller.abort(new Error('the machine ended')));
  }

  get machineId(): MachineId {
    return this.handle.machineId;
  }

  get incarnation(): number {
    return this.handle.incarnation;
  }

  get evidence(): EvidenceBundle {
    return this.facts.evidence;
  }

  get egress(): MachineEgress {
    return this.facts.egress;
  }

  get origin(): MachineOrigin {
    return this.facts.origin;
  }

  get shares(): readonly MachineShare[] {
    return this.facts.shares;
  }

  /** When the guest agent last answered; null before its first answer. */
  get lastSeenAtMs(): number | null {
    return this.seenAtMs;
  }

  /** The machine has a proxy, and the guest agent last said that both ends of it are up. */
  get isEgressUp(): boolean {
    return this.egress.hasProxy && this.isProxyUp;
  }

  /**
   * Resolves when a nonce of this incarnation came back from its agent, and it has its ways out. Rejects when `signal`
   * aborts. The driver has had that answer of a clone before it gave it away.
   */
  async whenAnswering(signal: AbortSignal): Promise<void> {
    if (this.origin === 'clone' && !this.egress.isOffered) return this.noteFirstAnswer();
    for (;;) {
      signal.throwIfAborted();
      if ((await this.openWaysOut(signal)) && (await this.ping(FIRST_PING_MS, signal))) return;
      await delay(PING_PAUSE_MS, signal);
    }
  }

  /** Has the guest mount what it was given. Rejects with `SHARE_NOT_MOUNTED`. */
  async mountShares(signal: AbortSignal): Promise<void> {
    for (const { tag, directory, guestPath } of this.shares) {
      const options = { signal: deadlineSignal(MOUNT_TIMEOUT_MS, signal) };
      await this.agent.mount({ tag, path: guestPath }, options).catch((e: unknown) => {
        const message = `${directory} is not at ${guestPath} of the guest: ${(e as Error).message}`;
        throw vmError('SHARE_NOT_MOUNTED', message, { machine: this.machineId, directory }, e);
      });
    }
  }

  /** Resolves when these machines of its group have answered it over their wires. Rejects with `PEER_UNREACHABLE`. */
  async reachPeers(neighbours: readonly number[], signal: AbortSignal): Promise<void> {
    const options = { signal, deadlineMs: REACH_TIMEOUT_MS + FIRST_PING_MS };
    await Promise.all(
      neighbours.map((index) =>
        this.agent.reach({ address: peerAddress(index), timeoutMs: REACH_TIMEOUT_MS }, options),
      ),
    );
  }

  /** Nobody waits until it is on record: the evidence is closed after what was given to it before. */
  private noteFirstAnswer(): void {
    const atMs = Date.now();
    this.seenAtMs = atMs;
    const latencyMs = atMs - this.facts.startedAtMs;
    void this.evidence.recordProbe({ atMs, kind: 'ping', ok: true, latencyMs, deadlineMs: START_TIMEOUT_MS });
  }

  /** A clone has the kernel arguments of its template, so it is told of its ways out by its agent. */
  private async openWaysOut(signal: AbortSignal): Promise<boolean> {
    const { egress, origin } = this.facts;
    if (origin === 'boot' || !egress.isOffered) return true;
    const offer = { egress: egress.hasProxy, localModel: egress.hasLocalModel };
    return this.agent.offer(offer, { signal: deadlineSignal(FIRST_PING_MS, signal) }).then(
      () => true,
      () => false,
    );
  }

  /**
   * Puts what the host is about to type, click or run on record, before it is done. Beyond `MAX_RECORDED_INPUTS` only that
   * there was more. Never rejects: see `EvidenceBundle.recordAction`.
   */
  async recordInput(input: Omit<ActionRecord, 'atMs'>): Promise<void> {
    if (++this.recordedInputs > MAX_RECORDED_INPUTS) return;
    const isLast = this.recordedInputs === MAX_RECORDED_INPUTS;
    const reason = isLast ? `${input.reason}; no input is recorded after this one` : input.reason;
    await this.evidence.recordAction({ ...input, reason });
  }

  /** Asks the agent and the monitor now, and puts both answers on record. Takes 2 s at most. */
  async probe(): Promise<void> {
    await this.recordSerial();
    const started = performance.now();
    const [answered, { status }] = await Promise.all([
      this.ping(PROBE_DEADLINE_MS),
      this.handle.status(AbortSignal.timeout(PROBE_DEADLINE_MS)),
    ]);
    const atMs = Date.now();
    if (!answered) {
      const latencyMs = Math.round(performance.now() - started);
      await this.evidence.recordProbe({ atMs, kind: 'ping', ok: false, latencyMs, deadlineMs: PROBE_DEADLINE_MS });
    }
    await this.evidence.recordProbe({ atMs, kind: 'status', status });
    await this.recordSerial();
  }

  /**
   * Follows the agent's own word (init is stopping, root read-only) until the machine ends, also across silences of the
   * agent. `onStopping` is called once, when init begins to stop the system. Never rejects.
   */
  async witness(onStopping: () => Promise<unknown>): Promise<void> {
    const over = AbortSignal.any([this.ended, this.leaving.signal]);
    while (!over.aborted) {
      const failure: unknown = await this.followBeats(onStopping, over).catch((e: unknown) => e);
      if (this.leaving.signal.aborted) return;
      this.log.debug(`machine ${this.machineId}: its agent is not heard: ${String(failure)}`);
      // A silence is no closed link: it may be a guest that hangs, or one that comes back.
      if (hasCode(failure, 'LINK_CLOSED') && this.isHeard) {
        await this.evidence.recordProbe({ atMs: Date.now(), kind: 'link', open: false });
        this.isHeard = false;
      }
      await delay(REWATCH_PAUSE_MS, over).catch(() => undefined);
    }
  }

  /** Closes what this process has to do with it, and leaves it to the next one. Never rejects. */
  async letGo(): Promise<void> {
    // That the link closes is our doing, and says nothing of the agent.
    this.leaving.abort();
    await this.egress.close();
    await this.handle.link.close();
  }

  /** The facts about this incarnation as they stand. */
  meta(exit: VmExit | null): EvidenceMeta {
    const { serialTotalBytes, serialDroppedBytes, eventsLost } = this.handle.recording;
    const { gap } = this.evidence;
    return {
      formatVersion: 1,
      machineId: this.machineId,
      incarnation: this.incarnation,
      driver: this.facts.driver,
      origin: this.facts.origin,
      startedAtMs: this.facts.startedAtMs,
      observedAtMs: Date.now(),
      exit: exit === null ? null : { code: exit.code, signal: exit.signal, atMs: exit.atMs },
      stderrTail: exit?.stderrTail ?? '',
      serial: { totalBytes: serialTotalBytes, droppedBytes: serialDroppedBytes },
      recorder: { attachedBeforeBoot: true, lost: eventsLost || gap !== null, note: gap },
    };
  }

  /** Ends when the machine does; throws when the agent falls silent or its link closes. */
  private async followBeats(onStopping: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    let known = '';
    const beats = this.agent.watch({ signal, deadlineMs: MAX_SILENCE_MS });
    for await (const { initStopping, rootReadonly } of beats) {
      this.seenAtMs = Date.now();
      this.isHeard = true;
      const word = `${initStopping} ${rootReadonly}`;
      if (word === known) continue;
      known = word;
      await this.evidence.recordProbe({ atMs: this.seenAtMs, kind: 'agent', initStopping, rootReadonly });
      if (!initStopping || this.isStopping) continue;
      this.isStopping = true;
      await onStopping();
    }
  }

  /** How much the guest had written by now: growth tells a busy guest from a hung one. */
  private recordSerial(): Promise<void> {
    const { serialTotalBytes: totalBytes } = this.handle.recording;
    return this.evidence.recordProbe({ atMs: Date.now(), kind: 'serial', totalBytes });
  }

  /** Puts an answer on record; that there was none is for the caller to say, who knows how long it waited. */
  private async ping(deadlineMs: number, signal?: AbortSignal): Promise<boolean> {
    const started = performance.now();
    try {
      const { egress } = await this.agent.ping({ signal: deadlineSignal(deadlineMs, signal) });
      this.isProxyUp = egress;
    } catch {
      return false;
    }
    this.seenAtMs = Date.now();
    const latencyMs = Math.round(performance.now() - started);
    await this.evidence.recordProbe({ atMs: this.seenAtMs, kind: 'ping', ok: true, latencyMs, deadlineMs });
    return true;
  }
}
