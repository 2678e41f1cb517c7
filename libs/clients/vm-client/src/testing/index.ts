export { FakeMachine } from './fake-machine';
export { type StreamFault } from './fake-streams';
export {
  FakeVmService,
  type FakeExec,
  type FakeExecResult,
  type FakeVmServiceOptions,
  type VmOpName,
} from './fake-vm-service';
export { GuestFiles, type TarEntry } from './guest-files';
