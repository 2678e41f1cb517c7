import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import type { VmRecording } from '../vm-handle';
import { BoundedLog, type BoundedLogOptions } from './bounded-log';
import { EventLog } from './event-log';

/** Live part of the serial log: enough for a boot and for most lives. */
export const SERIAL_HEAD_BYTES = 4 * 1024 * 1024;
/** End of a longer serial log: where the death of the guest is told. */
export const SERIAL_TAIL_BYTES = 1024 * 1024;
/** An ordinary life has some ten events of 150 bytes. */
const EVENTS = { headBytes: 4 * 1024 * 1024, tailLines: 1000 } as const;

/** Writes what the host observes of one incarnation into its evidence directory. */
export class EvidenceRecorder {
  private constructor(
    readonly events: EventLog,
    readonly serial: BoundedLog,
  ) {}

  /** Makes the directory and empty files in it. Rejects with the system's error; no file is open then. */
  static async create(evidenceDirectory: string): Promise<EvidenceRecorder> {
    await mkdir(evidenceDirectory, { recursive: true });
    const events = await EventLog.create(path.join(evidenceDirectory, BUNDLE_FILES.events), EVENTS);
    const serial = await closingOnFailure(events, BoundedLog.create(serialOptions(evidenceDirectory)));
    return new EvidenceRecorder(events, serial);
  }

  /**
   * Goes on with the evidence that a process left which ended without closing it. Of the console, which has had
   * `consoleBytes` until now, the part from `serial.totalBytes` on has to be recorded again; of the events those after
   * `lastEvent`, a raw line, or all of them when it is null. Rejects as `create` does.
   */
  static async resume(
    evidenceDirectory: string,
    consoleBytes: number,
  ): Promise<{ readonly recorder: EvidenceRecorder; readonly lastEvent: string | null }> {
    await mkdir(evidenceDirectory, { recursive: true });
    const eventsPath = path.join(evidenceDirectory, BUNDLE_FILES.events);
    const { log: events, lastLine: lastEvent } = await EventLog.resume(eventsPath, EVENTS);
    const serial = await closingOnFailure(events, BoundedLog.resume(serialOptions(evidenceDirectory), consoleBytes));
    return { recorder: new EvidenceRecorder(events, serial), lastEvent };
  }

  /** The counters now. */
  get recording(): VmRecording {
    return {
      serialTotalBytes: this.serial.totalBytes,
      serialDroppedBytes: this.serial.droppedBytes,
      eventsLost: this.events.lost,
    };
  }

  /** Completes all files. Idempotent; never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.events.close(), this.serial.close()]);
  }
}

const serialOptions = (evidenceDirectory: string): BoundedLogOptions => ({
  headPath: path.join(evidenceDirectory, BUNDLE_FILES.serialHead),
  tailPath: path.join(evidenceDirectory, BUNDLE_FILES.serialTail),
  headBytes: SERIAL_HEAD_BYTES,
  tailBytes: SERIAL_TAIL_BYTES,
});

async function closingOnFailure(events: EventLog, opening: Promise<BoundedLog>): Promise<BoundedLog> {
  try {
    return await opening;
  } catch (e) {
    await events.close();
    throw e;
  }
}
