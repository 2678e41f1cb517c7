import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import type { VmRecording } from '../vm-handle';
import { BoundedLog } from './bounded-log';
import { EventLog } from './event-log';

/** Live part of the serial log: enough for a boot and for most lives. */
export const SERIAL_HEAD_BYTES = 4 * 1024 * 1024;
/** End of a longer serial log: where the death of the guest is told. */
export const SERIAL_TAIL_BYTES = 1024 * 1024;
/** An ordinary life has some ten events of 150 bytes. */
const EVENTS_HEAD_BYTES = 4 * 1024 * 1024;
const EVENTS_TAIL_LINES = 1000;

/** Writes what the host observes of one incarnation into its evidence directory. */
export class EvidenceRecorder {
  private constructor(
    readonly events: EventLog,
    readonly serial: BoundedLog,
  ) {}

  /** Makes the directory and empty files in it. Rejects with the system's error; no file is open then. */
  static async create(evidenceDirectory: string): Promise<EvidenceRecorder> {
    await mkdir(evidenceDirectory, { recursive: true });
    const events = await EventLog.create(path.join(evidenceDirectory, BUNDLE_FILES.events), {
      headBytes: EVENTS_HEAD_BYTES,
      tailLines: EVENTS_TAIL_LINES,
    });
    try {
      const serial = await BoundedLog.create({
        headPath: path.join(evidenceDirectory, BUNDLE_FILES.serialHead),
        tailPath: path.join(evidenceDirectory, BUNDLE_FILES.serialTail),
        headBytes: SERIAL_HEAD_BYTES,
        tailBytes: SERIAL_TAIL_BYTES,
      });
      return new EvidenceRecorder(events, serial);
    } catch (e) {
      await events.close();
      throw e;
    }
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
