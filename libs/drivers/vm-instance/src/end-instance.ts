import { stat } from 'node:fs/promises';
import { hasCode } from '@inquest/kernel';
import { isAlive, killAndObserve, type ProcessIdentity } from '@inquest/process';
import type { DestroyedInstance, ReapedInstance } from '@inquest/vm-driver';
import { removeInstanceDirectory, unlinkSockets } from './instance-directory';
import { readInstanceRecord, recordedProcess } from './instance-record';
import type { InstanceProcess } from './process-scan';

/** What happened to an instance that no handle owns. */
export interface EndedInstance {
  readonly reaped: ReapedInstance;
  readonly destroyed: DestroyedInstance;
}

/**
 * Ends and removes an instance that no handle of this process owns. `scanned` are the processes that name it. Works
 * from the recorded process as well as from the scan: a monitor can change what /proc says of its arguments, but not
 * the record; the record is missing what was started just before the service died.
 */
export async function endInstance(directory: string, scanned: readonly InstanceProcess[]): Promise<EndedInstance> {
  const record = await readInstanceRecord(directory);
  const processes = await livingProcesses(await recordedProcess(record), scanned);
  const gone = await Promise.all(processes.map(isKilled));
  const observedGone = gone.every(Boolean);
  // The disk of a process that may still run stays with it.
  const directoryRemoved = observedGone && (await remove(directory));
  return {
    reaped: {
      machineId: record?.machineId ?? null,
      incarnation: record?.incarnation ?? null,
      directory,
      pid: processes[0]?.pid ?? null,
      observedGone,
    },
    destroyed: { killed: observedGone, signalled: processes.length > 0, directoryRemoved },
  };
}

async function livingProcesses(
  recorded: ProcessIdentity | null,
  scanned: readonly ProcessIdentity[],
): Promise<readonly ProcessIdentity[]> {
  if (recorded === null || scanned.some(({ pid }) => pid === recorded.pid)) return scanned;
  return (await isAlive(recorded)) ? [recorded, ...scanned] : scanned;
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
