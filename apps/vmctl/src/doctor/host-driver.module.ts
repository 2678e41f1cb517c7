import type { VmDriver } from '@inquest/vm-driver';
import { FirecrackerVmDriver } from '@inquest/vm-driver-firecracker';
import { QemuVmDriver } from '@inquest/vm-driver-qemu';

/** The driver whose needs `vmctl doctor` checks. */
export const hostDriver = (instancesRoot: string): VmDriver => new QemuVmDriver({ instancesRoot });

/** The driver that a node may use instead; `vmctl doctor` says whether it could. */
export const alternativeDriver = (instancesRoot: string): VmDriver => new FirecrackerVmDriver({ instancesRoot });
