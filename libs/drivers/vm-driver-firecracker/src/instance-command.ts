import { instanceNamedIn } from '@inquest/vm-instance';

/** `InstanceOfCommand` of this driver: whatever is started with, or through, the configuration file of an instance. */
export function instanceOfCommand(command: readonly string[], instancesRoot: string): string | null {
  const configuration = command[command.indexOf('--config-file') + 1];
  const isFirecracker = command.includes('--no-api') && command.includes('--config-file');
  return isFirecracker && configuration !== undefined ? instanceNamedIn(configuration, instancesRoot) : null;
}
