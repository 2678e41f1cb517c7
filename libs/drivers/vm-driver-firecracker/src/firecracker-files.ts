import path from 'node:path';
import { INSTANCE_FILES } from '@inquest/vm-driver';

/** What an instance directory of this driver has besides `INSTANCE_FILES`. All but the console is in the monitor's own `vmm/`. */
const FIRECRACKER_FILES = {
  configuration: `${INSTANCE_FILES.vmm}/firecracker.json`,
  /** Firecracker's log of its own errors. */
  log: `${INSTANCE_FILES.vmm}/firecracker.log`,
  /** Its error output, which is one line when it does not start. */
  errors: `${INSTANCE_FILES.vmm}/stderr.log`,
  /**
   * The hybrid vsock. Streams of the guest come in at this path with `_<port>` behind it, which is no longer than the
   * longest of `INSTANCE_SOCKETS`, whose length is what `checkVmSpec` checks.
   */
  vsock: `${INSTANCE_FILES.vmm}/v.sock`,
  /** The guest's serial console, which Firecracker writes to its standard output. */
  console: 'console.fifo',
} as const;

/** Where a file of an instance is. */
export const firecrackerFile = (directory: string, file: keyof typeof FIRECRACKER_FILES): string =>
  path.join(directory, FIRECRACKER_FILES[file]);

/** The disk of one incarnation, as `overlayFile` names overlays. */
export const rootDiskFile = (directory: string, incarnation: number): string =>
  path.join(directory, INSTANCE_FILES.vmm, `root.${incarnation}.raw`);
