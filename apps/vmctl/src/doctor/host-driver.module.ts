import type { VmDriver } from '@inquest/vm-driver';
import { QemuVmDriver } from '@inquest/vm-driver-qemu';

/** The driver whose needs `vmctl doctor` checks. */
export const hostDriver = (instancesRoot: string): VmDriver => new QemuVmDriver({ instancesRoot });
