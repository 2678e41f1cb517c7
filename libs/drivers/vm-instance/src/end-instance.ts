import { stat } from 'node:fs/promises';
import { hasCode } from '@inquest/kernel';
import { isAlive, killAndObserve, type ProcessIdentity } from '@inquest/process';
import type { DestroyedInstance, ReapedInstance } from '@inquest/vm-driver';
import { removeInstanceDirectory, unlinkSockets } from './instance-directory';
import { readInstanceRecord, recordedProcesses, type InstanceRecord } from './instance-record';
import type { InstanceProcess } from './process-scan';

/** What happened to an instance that no handle owns. */
export interface EndedInstance {
  readonly reaped: ReapedInstance;
  readonly destroyed: DestroyedInstance;
}

/**
 * Completes the evidence of an instance whose processes are gone from what its monitor has recorded itself, and says how the
 * monitor ended. Never rejects: what cannot be had is null.
 */
export type CompleteEvidence = (directory: string) => Promise<Pick<ReapedInstance, 'exit' | 'recording'>>;

/**
 * Ends and removes an instance that no handle of this process owns. `scanned` are the processes that name it. Works
 * from the recorded process as well as from the scan: a monitor can change what /proc says of its arguments, but not
 * the record; the record is missing what was started just before the service died.
 */
export async function endInstance(
  directory: string,
  scanned: readonly InstanceProcess[],
  completeEvidence: CompleteEvidence,
): Promise<EndedInstance> {
  const record = await readInstanceRecord(directory);
  const processes = await livingProcesses(await recordedProcesses(record), scanned);
  const gone = await Promise.all(processes.map(isKilled));
  const observedGone = gone.every(Boolean);
  const evidence = observedGone ? await completeEvidence(directory) : { exit: null, recording: null };
  // The disk of a process that may still run stays with it.
  const directoryRemoved = observedGone && (await remove(directory));
  return {
    reaped: {
      machineId: record?.machineId ?? null,
      incarnation: record?.incarnation ?? null,
      directory,
      pid: monitorOf(processes, record),
      observedGone,
      ...evidence,
    },
    destroyed: { killed: observedGone, signalled: processes.length > 0, directoryRemoved },
  };
}

/** Of the processes that were found, the monitor itself, which is recorded last. */
function monitorOf(found: readonly ProcessIdentity[], record: InstanceRecord | null): number | null {
  const recorded = record?.processes.at(-1)?.pid;
  return (found.find(({ pid }) => pid === recorded) ?? found.at(-1))?.pid ?? null;
}

async function livingProcesses(
  recorded: readonly ProcessIdentity[],
  scanned: readonly ProcessIdentity[],
): Promise<readonly ProcessIdentity[]> {
  const others = recorded.filter(({ pid }) => !scanned.some((process) => process.pid === pid));
  const living = await Promise.all(others.map(async (process) => ((await isAlive(process)) ? [process] : [])));
  return [...living.flat(), ...scanned];
}

async function isKilled(process: ProcessIdentity): Promise<boolean> {
  try {
    await killAndObserve(process, { graceMs: 0 });
    return true;
  } catch (e) {
    if (hasCode(e, 'PROCESS_UNKILLABLE')) return false;
    throw e;
  }
}

async function remove(directory: string): Promise<boolean> {
  const isThere = await stat(directory).then(
    () => true,
    () => false,
  );
  if (!isThere) return true;
  await unlinkSockets(directory).catch(() => undefined);
  return removeInstanceDirectory(directory);
}
