export { QemuVmDriver } from './qemu-vm-driver';
export type { QemuVmDriverOptions } from './qemu-options';
