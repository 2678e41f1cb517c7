import path from 'node:path';
import type { MachineId } from '@inquest/kernel';
import type { VmSpec } from '../vm-specification';

let count = 0;

/** A valid specification with directories of its own below `root`; no file that it names exists. */
export function sampleVmSpec(root: string, overrides: Partial<VmSpec> = {}): VmSpec {
  const machineId = `node-m${++count}` as MachineId;
  return {
    machineId,
    incarnation: 1,
    directory: path.join(root, 'machines', machineId),
    evidenceDirectory: path.join(root, 'evidence', machineId),
    cpus: 1,
    memoryMib: 256,
    boot: { kernelPath: '/images/vmlinux', initramfsPath: '/images/initramfs.cpio', commandLine: ['rw'] },
    disk: { basePath: '/images/disk.raw', baseFormat: 'raw' },
    rtcBaseMs: null,
    hostname: 'sample',
    listeners: [],
    limits: { startTimeoutMs: 60_000, overlayBytes: null },
    ...overrides,
  };
}
