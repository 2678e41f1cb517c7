import { stat } from 'node:fs/promises';
import { readEventFile, type QmpEvent } from '@inquest/qmp';
import { EvidenceRecorder, instanceFile } from '@inquest/vm-driver';
import { followConsole, type FollowedConsole } from './console-file';
import { readExitStatus } from './started-through-shell';
import { readSpecification } from './stored-specification';
import type { CompleteEvidence } from '@inquest/vm-instance';

/** Of the events that were made up for, how many are known again when they come by the monitor's connection, too. */
const REMEMBERED_EVENTS = 1000;

/** The evidence of a machine whose recording was interrupted, up to date again. */
export interface ResumedEvidence {
  readonly recorder: EvidenceRecorder;
  readonly console: FollowedConsole;
  /** Keeps an event that the monitor's connection brings, unless it was in the monitor's own record already. */
  readonly keep: (event: QmpEvent) => void;
}

/**
 * Goes on with the evidence in `evidenceDirectory` from what QEMU has recorded itself in the instance. Whoever wants the events
 * to come is connected to the monitor before, so that none falls between. Rejects with the system's error; nothing is open then.
 */
export async function resumeEvidence(
  { directory, evidenceDirectory }: { readonly directory: string; readonly evidenceDirectory: string },
  closing: AbortSignal,
): Promise<ResumedEvidence> {
  const consoleLog = instanceFile(directory, 'consoleLog');
  const { size } = await stat(consoleLog);
  const { recorder, lastEvent } = await EvidenceRecorder.resume(evidenceDirectory, size);
  try {
    const made = await makeUpFor(recorder, instanceFile(directory, 'eventsLog'), lastEvent);
    const console = await followConsole(consoleLog, recorder.serial, closing);
    const keep = ({ raw }: QmpEvent): void => {
      if (!made.includes(raw)) recorder.events.append(raw);
    };
    return { recorder, console, keep };
  } catch (e) {
    await recorder.close();
    throw e;
  }
}

/** `CompleteEvidence` of this driver. An instance that never ran has nothing to complete. */
export const completeEvidence: CompleteEvidence = async (directory) => {
  const exit = await readExitStatus(directory);
  const stored = await readSpecification(directory);
  if (stored === null) return { exit, recording: null };
  try {
    const { recorder, console } = await resumeEvidence(stored, AbortSignal.abort());
    await console.ended;
    await recorder.close();
    return { exit, recording: recorder.recording };
  } catch {
    return { exit, recording: null };
  }
};

/** Adds the events after `lastEvent` and gives the last of them. */
async function makeUpFor(
  { events }: EvidenceRecorder,
  eventsLog: string,
  lastEvent: string | null,
): Promise<readonly string[]> {
  const known = lastEvent === null ? 0 : await countUpTo(eventsLog, lastEvent);
  // What was recorded is not in the monitor's own record: something of it is missing.
  if (lastEvent !== null && known === 0) events.markLost();
  const made: string[] = [];
  let at = 0;
  for await (const { raw } of readEventFile(eventsLog)) {
    if (++at <= known) continue;
    events.append(raw);
    made.push(raw);
    if (made.length > REMEMBERED_EVENTS) made.shift();
  }
  return made;
}

/** How many events there are up to the last one that reads like this: its time is that of no other. */
async function countUpTo(eventsLog: string, wanted: string): Promise<number> {
  let count = 0;
  let found = 0;
  for await (const { raw } of readEventFile(eventsLog)) {
    count += 1;
    if (raw === wanted) found = count;
  }
  return found;
}
