import { runCommand } from '@inquest/process';
import { hasCode } from '@inquest/kernel';
import { overlayFile, vmDriverError, type VmSpec } from '@inquest/vm-driver';
import type { CompiledQemuOptions } from './qemu-options';

/** Making an empty overlay takes 10 to 70 ms. */
const CREATE_DEADLINE_MS = 30_000;

/**
 * Makes the empty copy-on-write disk on top of the frozen base, owned by the machine's user. The base is opened
 * read-only. Rejects with `VM_OVERLAY_FAILED` or `OPERATION_ABORTED`; a partial file may be left in the instance directory.
 */
export async function createOverlay(spec: VmSpec, options: CompiledQemuOptions, signal: AbortSignal): Promise<void> {
  const file = overlayFile(spec.directory, spec.incarnation);
  const { basePath, baseFormat } = spec.disk;
  try {
    await runCommand(options.qemuImgBinary, ['create', '-q', '-f', 'qcow2', '-F', baseFormat, '-b', basePath, file], {
      timeoutMs: CREATE_DEADLINE_MS,
      signal,
      ...(options.qemuUser === null ? {} : { user: options.qemuUser }),
    });
  } catch (e) {
    if (hasCode(e, 'OPERATION_ABORTED')) throw e;
    throw vmDriverError('VM_OVERLAY_FAILED', `no overlay on ${basePath}: ${(e as Error).message}`, { basePath }, e);
  }
}
