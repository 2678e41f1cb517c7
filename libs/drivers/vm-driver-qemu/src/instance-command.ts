import path from 'node:path';
import { instanceNamedIn } from '@inquest/vm-instance';

/** Programs that run on behalf of an instance: QEMU, its disk tool, and what QEMU is started through. */
const isInstanceProgram = (argument: string): boolean =>
  /^(qemu-system-[a-z0-9_]+|qemu-img|prlimit|env)$/.test(path.basename(argument));

/** `InstanceOfCommand` of this driver: the instance that the first argument to name a file in the `vmm/` of one names. */
export function instanceOfCommand(command: readonly string[], instancesRoot: string): string | null {
  const [program = '', ...args] = command;
  if (!isInstanceProgram(program)) return null;
  for (const argument of args) {
    const directory = instanceNamedIn(argument, instancesRoot);
    if (directory !== null) return directory;
  }
  return null;
}
