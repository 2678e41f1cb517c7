import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { processIdentity, type ProcessIdentity } from '@inquest/process';
import { INSTANCE_FILES } from '@inquest/vm-driver';

/** A process that works for an instance. */
export interface InstanceProcess extends ProcessIdentity {
  readonly directory: string;
}

/**
 * The instance directory below `instancesRoot` that a process with these arguments (program first) works for; null for
 * every program that the driver does not start, whatever paths it names.
 */
export type InstanceOfCommand = (command: readonly string[], instancesRoot: string) => string | null;

/** The instance directory below the root in whose `vmm/` an argument names a file; null when it names none. */
export function instanceNamedIn(argument: string, instancesRoot: string): string | null {
  const prefix = `${instancesRoot}/`;
  const at = argument.indexOf(prefix);
  if (at === -1) return null;
  const [name, next] = argument.slice(at + prefix.length).split('/');
  return name && next === INSTANCE_FILES.vmm ? path.join(instancesRoot, name) : null;
}

/**
 * All running processes of instances below the root. Finds also those whose pid was never recorded, because the
 * service died between starting and recording them.
 */
export async function findInstanceProcesses(
  instancesRoot: string,
  instanceOf: InstanceOfCommand,
): Promise<readonly InstanceProcess[]> {
  const found: InstanceProcess[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const pid = Number(entry);
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const directory = instanceOf(commandLine.split('\0'), instancesRoot);
    const identity = directory === null ? null : await processIdentity(pid);
    if (directory !== null && identity !== null) found.push({ ...identity, directory });
  }
  return found;
}
