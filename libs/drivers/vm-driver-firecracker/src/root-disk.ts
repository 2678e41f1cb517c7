import { chmod, chown, stat } from 'node:fs/promises';
import { hasCode } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import { vmDriverError, type VmSpec } from '@inquest/vm-driver';
import { rootDiskFile } from './firecracker-files';
import type { CompiledFirecrackerOptions } from './firecracker-options';

/** Copying a large disk on a slow one. Where the file system shares blocks, and for holes, nothing is copied. */
const COPY_DEADLINE_MS = 300_000;

/** The disk that a machine writes, and its size. */
export interface RootDisk {
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * Makes the disk of a machine: a copy of the base, which shares its blocks where the file system can, keeps its holes
 * and belongs to the monitor's user; or the base itself when the machine writes it. Firecracker has no overlays, so a
 * copy has the size of its base from the start. Rejects with `VM_OVERLAY_FAILED`, also when a copy may not be that
 * large, or `OPERATION_ABORTED`; a partial file may be left in the instance directory.
 */
export async function makeRootDisk(
  spec: VmSpec,
  { monitorUser }: CompiledFirecrackerOptions,
  signal: AbortSignal,
): Promise<RootDisk> {
  const { basePath, isWritable = false } = spec.disk;
  try {
    const { size: sizeBytes } = await stat(basePath);
    if (isWritable) {
      if (monitorUser !== null) await chown(basePath, monitorUser.uid, monitorUser.gid);
      return { path: basePath, sizeBytes };
    }
    const { overlayBytes } = spec.limits;
    if (overlayBytes !== null && sizeBytes > overlayBytes)
      throw new Error(`a copy has ${sizeBytes} bytes, and ${overlayBytes} are allowed`);
    const path = rootDiskFile(spec.directory, spec.incarnation);
    await runCommand('cp', ['--sparse=always', '--reflink=auto', '--no-preserve=mode', basePath, path], {
      timeoutMs: COPY_DEADLINE_MS,
      signal,
      ...(monitorUser === null ? {} : { user: monitorUser }),
    });
    await chmod(path, 0o600);
    return { path, sizeBytes };
  } catch (e) {
    if (hasCode(e, 'OPERATION_ABORTED')) throw e;
    throw vmDriverError('VM_OVERLAY_FAILED', `no disk from ${basePath}: ${(e as Error).message}`, { basePath }, e);
  }
}
