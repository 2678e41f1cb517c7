import { type Duplex } from 'node:stream';
import { type GuestLink } from './guest-link';
import { MuxLink } from './mux-link';
import { synchronize } from './sync-preamble';
import { connectUnixSocket } from './unix-socket';

/**
 * Opens the guest link of a QEMU machine through the Unix socket of its virtio-serial port. Waits for the guest agent,
 * however long it boots, until `signal` aborts. Rejects with `LINK_UNREACHABLE`, `LINK_CLOSED` (the hypervisor went away
 * meanwhile) or `OPERATION_ABORTED`; then nothing is left open and it may be called again. The port takes one host
 * at a time: close the old link first.
 */
export async function openSerialMuxLink(options: {
  readonly socketPath: string;
  readonly signal: AbortSignal;
}): Promise<GuestLink> {
  return establishSerialMux(await connectUnixSocket(options.socketPath, options.signal), options.signal);
}

/** As `openSerialMuxLink`, over a port that is connected already; owns `port`, and destroys it on failure. */
export async function establishSerialMux(port: Duplex, signal: AbortSignal): Promise<GuestLink> {
  await synchronize(port, signal);
  return new MuxLink(port, 'client');
}
