import path from 'node:path';
import { runCommand } from '@inquest/process';
import { overlayFile, type VmCopySpec, type VmSpec } from '@inquest/vm-driver';
import type { Launch } from './launch-machine';
import type { QemuMachine } from './qemu-machine';
import type { CompiledQemuOptions } from './qemu-options';

/** An overlay of gigabytes on a slow disk. */
const COPY_DEADLINE_MS = 300_000;
/** Goes with the instance, where no monitor can write. */
const STATE_FILE = 'copied.state';

/** The specification of a copy as that of a machine: it stands on the same disk. */
export const machineSpecOfCopy = (
  spec: VmCopySpec,
  { cpus, memoryMib, hasScreen = false, boot, disk }: VmSpec,
): VmSpec => ({
  ...spec,
  cpus,
  memoryMib,
  hasScreen,
  boot,
  disk,
});

/** Where the state of a copy is until it runs; as large as what its guest uses of its memory. */
export const copiedStateFile = (directory: string): string => path.join(directory, STATE_FILE);

/** A machine that goes on where another one stands now, on a copy of what that one had written to its disk. */
export function copyLaunch(spec: VmSpec, source: QemuMachine, { qemuUser }: CompiledQemuOptions): Launch {
  const { boot, disk, directory, incarnation } = spec;
  const stateFile = copiedStateFile(directory);
  const from = overlayFile(source.spec.directory, source.spec.incarnation);
  const copyDisk = async (signal: AbortSignal): Promise<void> => {
    await runCommand('cp', ['--sparse=always', '--reflink=auto', from, overlayFile(directory, incarnation)], {
      timeoutMs: COPY_DEADLINE_MS,
      signal,
      ...(qemuUser === null ? {} : { user: qemuUser }),
    });
  };
  return {
    spec,
    inputs: [boot.kernelPath, boot.initramfsPath, disk.basePath],
    memory: null,
    makeFiles: (signal) => source.saveCopy({ file: stateFile, user: qemuUser }, () => copyDisk(signal), signal),
    stateFile,
    stateScope: 'devices-and-memory',
  };
}
