import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { processIdentity, type ProcessIdentity } from '@inquest/process';
import { INSTANCE_FILES } from '@inquest/vm-driver';

/** A process that names an instance directory in its arguments. */
export interface InstanceProcess extends ProcessIdentity {
  readonly directory: string;
}

/** Programs that run on behalf of an instance: QEMU, its disk tool, and what QEMU is started through. */
const isInstanceProgram = (argument: string): boolean =>
  /^(qemu-system-[a-z0-9_]+|qemu-img|prlimit|env)$/.test(path.basename(argument));

/**
 * The instance directory below `instancesRoot` that a command line (NUL-separated, as in /proc/<pid>/cmdline) works
 * in; null for every program that is not ours, whatever paths it names.
 */
export function instanceOfCommandLine(commandLine: string, instancesRoot: string): string | null {
  const [program = '', ...args] = commandLine.split('\0');
  if (!isInstanceProgram(program)) return null;
  const prefix = `${instancesRoot}/`;
  for (const argument of args) {
    const at = argument.indexOf(prefix);
    if (at === -1) continue;
    const [name, next] = argument.slice(at + prefix.length).split('/');
    if (name && next === INSTANCE_FILES.vmm) return path.join(instancesRoot, name);
  }
  return null;
}

/**
 * All running processes of instances below the root. Finds also those whose pid was never recorded, because the
 * service died between starting and recording them.
 */
export async function findInstanceProcesses(instancesRoot: string): Promise<readonly InstanceProcess[]> {
  const found: InstanceProcess[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const pid = Number(entry);
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const directory = instanceOfCommandLine(commandLine, instancesRoot);
    const identity = directory === null ? null : await processIdentity(pid);
    if (directory !== null && identity !== null) found.push({ ...identity, directory });
  }
  return found;
}
