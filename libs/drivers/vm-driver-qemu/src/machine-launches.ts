import { runCommand } from '@inquest/process';
import { instanceFile, overlayFile, type VmCloneSpec, type VmSpec } from '@inquest/vm-driver';
import type { Launch } from './launch-machine';
import { copyOverlay, createOverlay, giveToMachine } from './overlay';
import type { CompiledQemuOptions } from './qemu-options';
import { insideOf, makeNetworkDirectory } from './connections';
import { templateFile, type TemplateRecord } from './template-record';

/** Copying the memory of a large guest on a slow disk. */
const COPY_DEADLINE_MS = 300_000;

/** A machine that boots. */
export function bootLaunch(spec: VmSpec, options: CompiledQemuOptions): Launch {
  const { boot, disk, directory, incarnation, isCapturable = false, shares = [] } = spec;
  return {
    spec,
    inputs: [boot.kernelPath, boot.initramfsPath, disk.basePath, ...shares.map((share) => insideOf(share.path))],
    memory: isCapturable ? { path: instanceFile(directory, 'memory'), isShared: true } : null,
    makeFiles: async (signal) => {
      if (spec.network !== undefined) await makeNetworkDirectory(spec.network, options.qemuUser);
      if (disk.isWritable === true) return giveToMachine(disk, options);
      return createOverlay(overlayFile(directory, incarnation), disk, options, signal);
    },
    stateFile: null,
    stateScope: 'devices',
  };
}

/** The specification of a clone as that of a machine: its disk is the template's layer. */
export const machineSpecOf = (
  { template, ...spec }: VmCloneSpec,
  { cpus, memoryMib, hasScreen = false, boot }: TemplateRecord,
): VmSpec => ({
  ...spec,
  cpus,
  memoryMib,
  hasScreen,
  boot,
  disk: { basePath: templateFile(template.directory, 'layer'), baseFormat: 'qcow2' },
});

/** A machine that continues a template, on a memory that it copies where it writes; a capturable one has a copy of the whole. */
export function cloneLaunch(spec: VmSpec, templateDirectory: string, options: CompiledQemuOptions): Launch {
  const { boot, isCapturable = false } = spec;
  const frozen = templateFile(templateDirectory, 'memory');
  const own = instanceFile(spec.directory, 'memory');
  return {
    spec,
    inputs: [boot.kernelPath, boot.initramfsPath, spec.disk.basePath],
    memory: isCapturable ? { path: own, isShared: true } : { path: frozen, isShared: false },
    makeFiles: async (signal) => {
      await copyOverlay(templateFile(templateDirectory, 'overlay'), spec, options);
      if (isCapturable) await copyMemory(frozen, own, options, signal);
    },
    stateFile: templateFile(templateDirectory, 'state'),
    stateScope: 'devices',
  };
}

/** Most of a guest's memory was never written; its file keeps the holes. */
async function copyMemory(from: string, to: string, options: CompiledQemuOptions, signal: AbortSignal): Promise<void> {
  const { qemuUser } = options;
  await runCommand('cp', ['--sparse=always', '--reflink=auto', from, to], {
    timeoutMs: COPY_DEADLINE_MS,
    signal,
    ...(qemuUser === null ? {} : { user: qemuUser }),
  });
}
