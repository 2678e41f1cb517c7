export { FirecrackerHarness } from './firecracker-harness';
