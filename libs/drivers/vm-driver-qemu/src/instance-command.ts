import path from 'node:path';
import { instanceNamedIn } from '@inquest/vm-instance';
import { SHELL_NAME } from './started-through-shell';

/** Programs that run on behalf of an instance: QEMU, its disk tool, and the shell that QEMU is started through. */
const isInstanceProgram = ([program = '', option, , name]: readonly string[]): boolean =>
  /^(qemu-system-[a-z0-9_]+|qemu-img)$/.test(path.basename(program)) || (option === '-c' && name === SHELL_NAME);

/** `InstanceOfCommand` of this driver: the instance that the first argument to name a file in the `vmm/` of one names. */
export function instanceOfCommand(command: readonly string[], instancesRoot: string): string | null {
  if (!isInstanceProgram(command)) return null;
  for (const argument of command.slice(1)) {
    const directory = instanceNamedIn(argument, instancesRoot);
    if (directory !== null) return directory;
  }
  return null;
}
