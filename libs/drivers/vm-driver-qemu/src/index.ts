export { QemuVmDriver } from './qemu-vm-driver';
export type { QemuUser, QemuVmDriverOptions } from './qemu-options';
