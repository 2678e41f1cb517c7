export { createFakeGuest, FakeGuestAgent, type FakeGuest } from './fake-guest-agent';
export { type FakeExecResult, type FakeExecScript } from './fake-guest-exec';
export { type FakeFile } from './fake-guest-files';
export { FakeHybridVsockGuest } from './fake-hybrid-vsock-guest';
export { describeGuestLink } from './guest-link-conformance';
export { type LinkPair } from './link-pair';
export { createMemoryLinkPair } from './memory-link';
export { serveSerialMux } from './serial-mux-guest';
