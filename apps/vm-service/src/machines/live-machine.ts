import { Logger } from '@nestjs/common';
import type { GuestAgentClient } from '@inquest/guest-link';
import { deadlineSignal, hasCode, type MachineId } from '@inquest/kernel';
import type { VmExit, VmHandle } from '@inquest/vm-driver';
import type { EvidenceMeta } from '@inquest/verdict-engine';
import type { EvidenceBundle } from '../evidence/evidence-bundle';

/** One try of the first ping. The link itself waits for the guest to come up. */
const FIRST_PING_MS = 5_000;
/** Beats come every second; a guest under emulation on a busy host may be late, but not this late. */
const MAX_SILENCE_MS = 30_000;
/** An active probe: alive means answered within this. */
const PROBE_DEADLINE_MS = 2_000;

/** One incarnation that runs in this process: its driver handle, its agent, its evidence. */
export class LiveMachine {
  private readonly log = new Logger(LiveMachine.name);
  private readonly startedAtMs: number;
  private seenAtMs: number | null = null;

  constructor(
    readonly machineId: MachineId,
    readonly incarnation: number,
    readonly handle: VmHandle,
    readonly agent: GuestAgentClient,
    readonly evidence: EvidenceBundle,
    startedAtMs: number,
    private readonly driver: EvidenceMeta['driver'],
  ) {
    this.startedAtMs = startedAtMs;
  }

  /** When the guest agent last answered. */
  get lastSeenAtMs(): number | null {
    return this.seenAtMs;
  }

  /** Resolves when a ping with a fresh nonce came back in this incarnation. Rejects when `signal` aborts. */
  async whenAnswering(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (await this.ping(FIRST_PING_MS, signal)) return;
    }
  }

  /** Asks the agent and the monitor now, and puts both answers on record. */
  async probe(): Promise<{ readonly answered: boolean; readonly status: string | null }> {
    await this.recordSerial();
    const [answered, { status }] = await Promise.all([
      this.ping(PROBE_DEADLINE_MS),
      this.handle.status(AbortSignal.timeout(PROBE_DEADLINE_MS)),
    ]);
    await this.evidence.recordProbe({ atMs: Date.now(), kind: 'status', status });
    await this.recordSerial();
    return { answered, status };
  }

  /**
   * Follows the agent's own word (init is stopping, root read-only) until the machine ends or its agent is gone.
   * `onStopping` is called once, when init begins to stop the system. Never rejects.
   */
  async witness(onStopping: () => Promise<unknown>): Promise<void> {
    let known = '';
    try {
      for await (const { initStopping, rootReadonly } of this.agent.watch({
        signal: this.endSignal(),
        deadlineMs: MAX_SILENCE_MS,
      })) {
        this.seenAtMs = Date.now();
        const word = `${initStopping} ${rootReadonly}`;
        if (word === known) continue;
        const isFirstWord = initStopping && !known.startsWith('true');
        known = word;
        await this.evidence.recordProbe({ atMs: this.seenAtMs, kind: 'agent', initStopping, rootReadonly });
        if (isFirstWord) await onStopping();
      }
    } catch (e) {
      if (!hasCode(e, 'LINK_CLOSED')) this.log.debug(`machine ${this.machineId}: watching ended: ${String(e)}`);
    }
    await this.evidence.recordProbe({ atMs: Date.now(), kind: 'link', open: false });
  }

  /** The facts about this incarnation as they stand. */
  meta(exit: VmExit | null): EvidenceMeta {
    const { serialTotalBytes, serialDroppedBytes, eventsLost } = this.handle.recording;
    return {
      formatVersion: 1,
      machineId: this.machineId,
      incarnation: this.incarnation,
      driver: this.driver,
      startedAtMs: this.startedAtMs,
      observedAtMs: Date.now(),
      exit: exit === null ? null : { code: exit.code, signal: exit.signal, atMs: exit.atMs },
      stderrTail: exit?.stderrTail ?? '',
      serial: { totalBytes: serialTotalBytes, droppedBytes: serialDroppedBytes },
      recorder: { attachedBeforeBoot: true, lost: eventsLost, note: null },
    };
  }

  /** How much the guest had written by now: growth tells a busy guest from a hung one. */
  private recordSerial(): Promise<void> {
    const { serialTotalBytes: totalBytes } = this.handle.recording;
    return this.evidence.recordProbe({ atMs: Date.now(), kind: 'serial', totalBytes });
  }

  private async ping(deadlineMs: number, signal?: AbortSignal): Promise<boolean> {
    const started = performance.now();
    const ok = await this.agent.ping({ signal: deadlineSignal(deadlineMs, signal) }).then(
      () => true,
      () => false,
    );
    const atMs = Date.now();
    if (ok) this.seenAtMs = atMs;
    const latencyMs = Math.round(performance.now() - started);
    await this.evidence.recordProbe({ atMs, kind: 'ping', ok, latencyMs, deadlineMs });
    return ok;
  }

  private endSignal(): AbortSignal {
    const controller = new AbortController();
    void this.handle.exited.then(() => controller.abort(new Error('the machine ended')));
    return controller.signal;
  }
}
