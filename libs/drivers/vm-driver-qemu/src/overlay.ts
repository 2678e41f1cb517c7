import { chmod, chown, copyFile } from 'node:fs/promises';
import { runCommand } from '@inquest/process';
import { hasCode } from '@inquest/kernel';
import { overlayFile, vmDriverError, type VmDisk, type VmSpec } from '@inquest/vm-driver';
import type { CompiledQemuOptions } from './qemu-options';

/** Making an empty overlay takes 10 to 70 ms. */
const CREATE_DEADLINE_MS = 30_000;

/**
 * Makes an empty copy-on-write disk on top of a frozen one, owned by the machines' user. The base is opened read-only.
 * Rejects with `VM_OVERLAY_FAILED` or `OPERATION_ABORTED`; a partial file may be left in the instance directory.
 */
export async function createOverlay(
  file: string,
  { basePath, baseFormat }: VmDisk,
  options: CompiledQemuOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runCommand(options.qemuImgBinary, ['create', '-q', '-f', 'qcow2', '-F', baseFormat, '-b', basePath, file], {
      timeoutMs: CREATE_DEADLINE_MS,
      signal,
      ...(options.qemuUser === null ? {} : { user: options.qemuUser }),
    });
  } catch (e) {
    if (hasCode(e, 'OPERATION_ABORTED')) throw e;
    throw overlayError(basePath, e);
  }
}

/** The same as a copy of an overlay that was prepared and never used: a millisecond instead of a process. */
export async function copyOverlay(
  prepared: string,
  spec: Pick<VmSpec, 'directory' | 'incarnation'>,
  { qemuUser }: CompiledQemuOptions,
): Promise<void> {
  const file = overlayFile(spec.directory, spec.incarnation);
  try {
    await copyFile(prepared, file);
    await chmod(file, 0o600);
    if (qemuUser !== null) await chown(file, qemuUser.uid, qemuUser.gid);
  } catch (e) {
    throw overlayError(prepared, e);
  }
}

/** Lets the machines' user write a disk that needs no overlay. Rejects with `VM_OVERLAY_FAILED`. */
export async function giveToMachine({ basePath }: VmDisk, { qemuUser }: CompiledQemuOptions): Promise<void> {
  try {
    if (qemuUser !== null) await chown(basePath, qemuUser.uid, qemuUser.gid);
  } catch (e) {
    throw overlayError(basePath, e);
  }
}

const overlayError = (basePath: string, e: unknown) =>
  vmDriverError('VM_OVERLAY_FAILED', `no overlay on ${basePath}: ${(e as Error).message}`, { basePath }, e);
