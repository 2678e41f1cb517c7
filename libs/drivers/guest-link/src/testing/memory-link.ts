import { MuxLink } from '../mux-link';
import { type LinkPair } from './link-pair';
import { createMemoryPipe, type Fragment } from './memory-pipe';

/** Both ends of a guest link in this process: real multiplexing over a pipe in memory. */
export function createMemoryLinkPair(fragment?: Fragment): LinkPair {
  const [hostPipe, guestPipe] = createMemoryPipe(fragment);
  return {
    host: new MuxLink(hostPipe, 'client'),
    guest: new MuxLink(guestPipe, 'server'),
    sever: () => void guestPipe.destroy(),
  };
}
