import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { MachineId } from '@inquest/kernel';
import { untilStored } from '@inquest/persistence';
import type { EvidenceMeta, Verdict } from '@inquest/verdict-engine';
import type { EvidenceBundle } from '../evidence/evidence-bundle';
import { verdictView } from '../evidence/verdict-view';
import type { MachineEntity } from './machine.entity';
import { LIVE_STATES, MachinesRepository } from './machines.repository';

/** What a machine's row says of its end, beside the verdict. */
export interface EndText {
  /** At most 64 characters; the class of the verdict when left out. */
  readonly reason?: string;
  readonly message: string;
}

/** `MachineView.message` takes no more. */
const MAX_MESSAGE_CHARS = 8_192;

/** Records how incarnations ended: the verdict with its evidence, then the row. */
@Injectable()
export class MachineEnds implements BeforeApplicationShutdown {
  private readonly log = new Logger(MachineEnds.name);
  private readonly stopping = new AbortController();

  constructor(private readonly machines: MachinesRepository) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('vm-service is stopping'));
  }

  /**
   * Closes the evidence of an incarnation that is over and ends its row. A database that is away is waited for; while
   * the service stops it is tried once, and the next start finds the row. Rejects only then.
   */
  async record(
    row: MachineEntity,
    evidence: EvidenceBundle,
    meta: EvidenceMeta,
    tell: (verdict: Verdict) => EndText,
  ): Promise<void> {
    const { verdict, isStored } = await evidence.conclude(meta);
    const { reason = verdict.class, message } = tell(verdict);
    const told = isStored
      ? message
      : `${message} The evidence could not be closed on disk, so this verdict is only here.`;
    const end = {
      state: 'ended',
      reason,
      message: told.slice(0, MAX_MESSAGE_CHARS),
      verdict: verdictView(verdict),
      endedAt: new Date(meta.exit?.atMs ?? meta.observedAtMs),
    } as const;
    const write = async (): Promise<void> => {
      const { machineId, incarnation } = row;
      const isEnded = await this.machines.change(machineId as MachineId, incarnation, LIVE_STATES, end);
      // Whoever destroyed it did not wait for a slow verdict.
      if (!isEnded) {
        await this.machines.change(machineId as MachineId, incarnation, ['ended'], { verdict: end.verdict });
      }
    };
    await untilStored(write, {
      signal: this.stopping.signal,
      onRetry: (e) => this.log.warn(`the end of machine ${row.machineId} is not recorded yet`, e),
    });
  }

  /** The same for one that its driver could not start and left nothing of: there never was a machine, and why. */
  recordNeverRan(
    row: MachineEntity,
    evidence: EvidenceBundle,
    { driver, startedAtMs, message }: Pick<EvidenceMeta, 'driver' | 'startedAtMs'> & { readonly message: string },
  ): Promise<void> {
    const atMs = Date.now();
    const meta = {
      formatVersion: 1,
      machineId: row.machineId,
      incarnation: row.incarnation,
      driver,
      startedAtMs,
      observedAtMs: atMs,
      exit: { code: null, signal: null, atMs },
      stderrTail: message,
      serial: { totalBytes: 0, droppedBytes: 0 },
      recorder: { attachedBeforeBoot: true, lost: false, note: 'the driver could not start the machine' },
    } as const;
    return this.record(row, evidence, meta, () => ({ reason: 'start_failed', message }));
  }
}
