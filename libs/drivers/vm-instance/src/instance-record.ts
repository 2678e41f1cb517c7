import { readFile, rename, writeFile } from 'node:fs/promises';
import { ID_PATTERN, type MachineId } from '@inquest/kernel';
import type { ProcessIdentity } from '@inquest/process';
import { instanceFile } from '@inquest/vm-driver';
import { bootId } from './boot-id';

/** `instance.json`: whose instance a directory is, for a service that did not start it. Only the driver's user can write it. */
export interface InstanceRecord {
  readonly machineId: MachineId;
  readonly incarnation: number;
  /** The monitor's processes, the leader of their group first; none until it was spawned. */
  readonly processes: readonly ProcessIdentity[];
  /** Under another one pids and start times mean nothing. Null while there are none. */
  readonly bootId: string | null;
}

/** Writes the record atomically: a reader finds the old one or the new one. */
export async function writeInstanceRecord(directory: string, record: InstanceRecord): Promise<void> {
  const file = instanceFile(directory, 'record');
  const partial = `${file}.partial`;
  await writeFile(partial, JSON.stringify(record), { mode: 0o600 });
  await rename(partial, file);
}

/** The record of processes of this boot, the leader of their group first. */
export async function recordOf(
  { machineId, incarnation }: Pick<InstanceRecord, 'machineId' | 'incarnation'>,
  processes: readonly ProcessIdentity[],
): Promise<InstanceRecord> {
  const identities = processes.map(({ pid, startTicks }) => ({ pid, startTicks }));
  return { machineId, incarnation, processes: identities, bootId: await bootId() };
}

/** Null when there is none or it is not one; never throws. */
export async function readInstanceRecord(directory: string): Promise<InstanceRecord | null> {
  try {
    return parseRecord(JSON.parse(await readFile(instanceFile(directory, 'record'), 'utf8')));
  } catch {
    return null;
  }
}

/** The recorded processes, unless they were of an earlier boot: then their pids are strangers'. */
export async function recordedProcesses(record: InstanceRecord | null): Promise<readonly ProcessIdentity[]> {
  return record !== null && record.bootId === (await bootId()) ? record.processes : [];
}

function parseRecord(value: unknown): InstanceRecord | null {
  if (typeof value !== 'object' || value === null) return null;
  const { machineId, incarnation, processes, bootId: boot } = value as Partial<Record<keyof InstanceRecord, unknown>>;
  if (typeof machineId !== 'string' || !ID_PATTERN.test(machineId) || !Number.isSafeInteger(incarnation)) return null;
  return {
    machineId: machineId as MachineId,
    incarnation: incarnation as number,
    processes: Array.isArray(processes) ? processes.flatMap(parseProcess) : [],
    bootId: typeof boot === 'string' ? boot : null,
  };
}

function parseProcess(value: unknown): ProcessIdentity[] {
  if (typeof value !== 'object' || value === null) return [];
  const { pid, startTicks } = value as Partial<Record<'pid' | 'startTicks', unknown>>;
  // Pid 1 and below are never a machine; a negative one would be a process group.
  if (!Number.isSafeInteger(pid) || (pid as number) <= 1 || !Number.isSafeInteger(startTicks)) return [];
  return [{ pid: pid as number, startTicks: startTicks as number }];
}
