import { chmod, chown, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { CleanupStack, hasCode, isDomainError } from '@inquest/kernel';
import { instanceFile, overlayFile, vmDriverError, type HostCheck, type VmTemplate } from '@inquest/vm-driver';
import path from 'node:path';
import { createOverlay } from './overlay';
import type { QemuMachine } from './qemu-machine';
import type { CompiledQemuOptions } from './qemu-options';
import { readTemplateRecord, templateFile, templateOf, writeTemplateRecord } from './template-record';

/** Promises and errors of `TemplateDriver.captureTemplate`, for a capturable machine of this driver. */
export async function captureTemplate(
  machine: QemuMachine,
  directory: string,
  { options, host }: { readonly options: CompiledQemuOptions; readonly host: HostCheck },
  signal: AbortSignal,
): Promise<VmTemplate> {
  const cleanup = new CleanupStack();
  try {
    await claimDirectory(directory);
    cleanup.defer('template directory', () => rm(directory, { recursive: true, force: true }));
    // Once its state was taken the machine cannot go on.
    cleanup.defer('captured machine', async () => void (await machine.stop({ graceMs: 0 })));
    await machine.saveState(templateFile(directory, 'state'), options.qemuUser, signal);
    await machine.quit();
    await moveFiles(machine, directory, options, signal);
    const { cpus, memoryMib, hasScreen = false, boot, disk } = machine.spec;
    const facts = { cpus, memoryMib, hasScreen, boot, accelerator: host.accelerator, monitorVersion: host.version };
    signal.throwIfAborted();
    await writeTemplateRecord(directory, facts, disk.basePath);
    cleanup.disown();
    return templateOf(directory, await readTemplateRecord(directory, host));
  } catch (e) {
    await cleanup.run();
    throw captureError(machine, e);
  }
}

async function claimDirectory(directory: string): Promise<void> {
  if (!path.isAbsolute(directory)) {
    throw vmDriverError('VM_CAPTURE_FAILED', `the directory of a template must be absolute, not ${directory}`);
  }
  try {
    // The monitors' user passes through to the files that are its own or everybody's.
    await mkdir(directory, { mode: 0o711 });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
    throw vmDriverError('VM_TEMPLATE_EXISTS', `${directory} exists already`, { directory }, e);
  }
}

/** From the machine's directory, where its monitor wrote them, to the template's, where no monitor can put anything. */
async function moveFiles(
  { spec }: QemuMachine,
  directory: string,
  options: CompiledQemuOptions,
  signal: AbortSignal,
): Promise<void> {
  const memory = templateFile(directory, 'memory');
  const layer = templateFile(directory, 'layer');
  const overlay = templateFile(directory, 'overlay');
  await moveOwn(instanceFile(spec.directory, 'memory'), memory);
  await chmod(memory, 0o600);
  await moveOwn(overlayFile(spec.directory, spec.incarnation), layer);
  await freeze(layer);
  const prepared = path.join(instanceFile(spec.directory, 'vmm'), 'prepared.qcow2');
  await createOverlay(prepared, { basePath: layer, baseFormat: 'qcow2' }, options, signal);
  await moveOwn(prepared, overlay);
  await freeze(overlay);
}

/** A monitor that a guest has taken over could have left a link to a file of ours in the place of its own. */
async function moveOwn(from: string, to: string): Promise<void> {
  await rename(from, to);
  const status = await lstat(to);
  if (!status.isFile() || status.nlink !== 1)
    throw vmDriverError('VM_CAPTURE_FAILED', `${from} is not a regular file of its own`);
}

/** Readable by everybody, writable by nobody. */
async function freeze(file: string): Promise<void> {
  await chown(file, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  await chmod(file, 0o444);
}

function captureError({ machineId }: QemuMachine, e: unknown): unknown {
  if (hasCode(e, 'OPERATION_ABORTED') || (isDomainError(e) && e.code in vmDriverError.table)) return e;
  const why = (e as Error).message;
  return vmDriverError('VM_CAPTURE_FAILED', `no template was made of machine ${machineId}: ${why}`, { machineId }, e);
}
