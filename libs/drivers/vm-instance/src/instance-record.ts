import { readFile, rename, writeFile } from 'node:fs/promises';
import { ID_PATTERN, type MachineId } from '@inquest/kernel';
import type { ProcessIdentity } from '@inquest/process';
import { instanceFile } from '@inquest/vm-driver';
import { bootId } from './boot-id';

/** `instance.json`: whose instance a directory is, for a service that did not start it. Only the driver's user can write it. */
export interface InstanceRecord {
  readonly machineId: MachineId;
  readonly incarnation: number;
  /** Null until the monitor was spawned. Pid and start time mean nothing under another boot id. */
  readonly process: (ProcessIdentity & { readonly bootId: string }) | null;
}

/** Writes the record atomically: a reader finds the old one or the new one. */
export async function writeInstanceRecord(directory: string, record: InstanceRecord): Promise<void> {
  const file = instanceFile(directory, 'record');
  const partial = `${file}.partial`;
  await writeFile(partial, JSON.stringify(record), { mode: 0o600 });
  await rename(partial, file);
}

/** The record of a process of this boot. */
export async function recordOf(
  machine: Pick<InstanceRecord, 'machineId' | 'incarnation'>,
  { pid, startTicks }: ProcessIdentity,
): Promise<InstanceRecord> {
  const { machineId, incarnation } = machine;
  return { machineId, incarnation, process: { pid, startTicks, bootId: await bootId() } };
}

/** Null when there is none or it is not one; never throws. */
export async function readInstanceRecord(directory: string): Promise<InstanceRecord | null> {
  try {
    return parseRecord(JSON.parse(await readFile(instanceFile(directory, 'record'), 'utf8')));
  } catch {
    return null;
  }
}

/** The recorded process, unless it was of an earlier boot: then its pid is a stranger's. */
export async function recordedProcess(record: InstanceRecord | null): Promise<ProcessIdentity | null> {
  const recorded = record?.process ?? null;
  return recorded !== null && recorded.bootId === (await bootId()) ? recorded : null;
}

function parseRecord(value: unknown): InstanceRecord | null {
  if (typeof value !== 'object' || value === null) return null;
  const { machineId, incarnation, process } = value as Partial<Record<keyof InstanceRecord, unknown>>;
  if (typeof machineId !== 'string' || !ID_PATTERN.test(machineId) || !Number.isSafeInteger(incarnation)) return null;
  return { machineId: machineId as MachineId, incarnation: incarnation as number, process: parseProcess(process) };
}

function parseProcess(value: unknown): InstanceRecord['process'] {
  if (typeof value !== 'object' || value === null) return null;
  const { pid, startTicks, bootId } = value as Partial<Record<'pid' | 'startTicks' | 'bootId', unknown>>;
  // Pid 1 and below are never a machine; a negative one would be a process group.
  if (!Number.isSafeInteger(pid) || (pid as number) <= 1) return null;
  if (!Number.isSafeInteger(startTicks) || typeof bootId !== 'string') return null;
  return { pid: pid as number, startTicks: startTicks as number, bootId };
}
