export { linkError } from './errors';
export { type FirstBytes, type GuestLink, type GuestListener, type GuestStreamHandler } from './guest-link';
export { establishSerialMux, openSerialMuxLink } from './serial-mux-link';
export { synchronize } from './sync-preamble';
export { HybridVsockLink } from './hybrid-vsock-link';
export { GuestAgentClient } from './client/guest-agent-client';
export { ANSWER_DEADLINE_MS, type CallOptions } from './client/call-deadline';
export {
  type BoundedExec,
  type BoundedOutput,
  type GuestExec,
  type OutputBounds,
  type OutputChunk,
} from './client/guest-exec';
export { type GuestDownload } from './client/file-get';
export { type FileTail } from './client/file-tail';
