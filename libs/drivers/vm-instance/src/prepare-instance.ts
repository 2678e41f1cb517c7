import { rm } from 'node:fs/promises';
import type { CleanupStack } from '@inquest/kernel';
import { EvidenceRecorder, type VmSpec } from '@inquest/vm-driver';
import { checkReadable } from './file-access';
import { checkHostMemory } from './host-memory';
import { claimInstanceDirectory, makeVmmDirectory } from './instance-directory';
import { writeInstanceRecord } from './instance-record';
import type { MonitorUser } from './monitor-user';

/** What an instance is made from, on which terms. */
export interface InstancePlan {
  readonly spec: VmSpec;
  /** Files that the monitor's user must be able to read. */
  readonly inputs: readonly string[];
  /** Who the monitor will run as; null = the user of this process. */
  readonly user: MonitorUser | null;
  /** Memory that stays free for the host, in MiB. */
  readonly memoryReserveMib: number;
}

/**
 * Makes the instance of a machine that is to start, up to where monitors differ: its directory, its record without a
 * process, `vmm/`, and the evidence that it resolves with. Rejects with `VM_FILE_UNREADABLE`,
 * `VM_HOST_MEMORY_EXHAUSTED`, `VM_INSTANCE_EXISTS`, the signal's reason or the system's error; what was made until then
 * goes when `cleanup` runs.
 */
export async function prepareInstance(
  { spec, inputs, user, memoryReserveMib }: InstancePlan,
  signal: AbortSignal,
  cleanup: CleanupStack,
): Promise<EvidenceRecorder> {
  const { directory, machineId, incarnation } = spec;
  await Promise.all([
    ...inputs.map((file) => checkReadable(file, user)),
    checkHostMemory(spec.memoryMib, memoryReserveMib),
  ]);
  signal.throwIfAborted();
  await claimInstanceDirectory(spec);
  cleanup.defer('instance directory', () => rm(directory, { recursive: true, force: true }));
  const recording = EvidenceRecorder.create(spec.evidenceDirectory);
  cleanup.defer('evidence files', async () => (await recording.catch(() => null))?.close());
  // All of them are waited for, so that none is still at work when they are undone.
  const made = await Promise.allSettled([
    writeInstanceRecord(directory, { machineId, incarnation, processes: [], bootId: null }),
    makeVmmDirectory(directory, user),
    recording,
  ]);
  const failed = made.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return recording;
}
