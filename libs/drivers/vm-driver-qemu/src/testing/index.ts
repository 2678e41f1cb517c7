export { buildGuestFiles, type GuestFiles } from './guest-files';
export { QemuHarness } from './qemu-harness';
