export { buildGuestFiles, type GuestFiles } from './guest-files';
export { QemuHarness } from './qemu-harness';
export { ShellDouble, type PlayedCommand, type ShellDoubleOptions } from './shell-double';
