import { chown, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { instanceFile, vmDriverError, type VmSpec } from '@inquest/vm-driver';
import type { MonitorUser } from './monitor-user';

/**
 * Makes the directory of a new instance; it becomes ours by the making, so that two starts can never share one. Throws
 * `VM_INSTANCE_EXISTS` and touches nothing when it is there already.
 */
export async function claimInstanceDirectory({ directory, machineId }: VmSpec): Promise<void> {
  try {
    // Others may pass through to what the monitor's user owns, and see nothing else.
    await mkdir(directory, { mode: 0o711 });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
    throw vmDriverError(
      'VM_INSTANCE_EXISTS',
      `machine ${machineId} has an instance already: ${directory} exists`,
      { machineId },
      e,
    );
  }
}

/** Makes the one directory of an instance that its monitor may write. */
export async function makeVmmDirectory(directory: string, user: MonitorUser | null): Promise<void> {
  const vmm = instanceFile(directory, 'vmm');
  await mkdir(vmm, { mode: 0o700 });
  if (user !== null) await chown(vmm, user.uid, user.gid);
}

/** Removes the sockets in `vmm/`, which a monitor leaves behind. Rejects with the system's error. */
export async function unlinkSockets(directory: string): Promise<void> {
  const vmm = instanceFile(directory, 'vmm');
  const entries = await readdir(vmm, { withFileTypes: true });
  const sockets = entries.filter((entry) => entry.isSocket());
  await Promise.all(sockets.map(({ name }) => rm(path.join(vmm, name), { force: true })));
}

/** Removes an instance directory and says whether it is gone. Links in it are removed, never followed. */
export async function removeInstanceDirectory(directory: string): Promise<boolean> {
  await rm(directory, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined);
  return stat(directory).then(
    () => false,
    (e: NodeJS.ErrnoException) => e.code === 'ENOENT',
  );
}

/** Makes the root of all instances. Search permission for others, because the monitors' user has to get below it. */
export async function makeInstancesRoot(instancesRoot: string): Promise<void> {
  await mkdir(path.resolve(instancesRoot), { recursive: true, mode: 0o711 });
}
