import { type Duplex } from 'node:stream';
import { type GuestLink } from '../guest-link';
import { MuxLink } from '../mux-link';
import { acceptSync } from '../sync-preamble';

/** The guest's side of a serial mux over `port`: answers the preamble, then serves one session. Owns `port`. */
export async function serveSerialMux(port: Duplex, signal: AbortSignal): Promise<GuestLink> {
  await acceptSync(port, signal);
  return new MuxLink(port, 'server');
}
