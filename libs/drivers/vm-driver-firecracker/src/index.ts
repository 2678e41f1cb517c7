export { FirecrackerVmDriver } from './firecracker-vm-driver';
export type { FirecrackerVmDriverOptions } from './firecracker-options';
