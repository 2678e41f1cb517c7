import { establishSerialMux } from './serial-mux-link';
import { describeGuestLink } from './testing/guest-link-conformance';
import { createMemoryPipe } from './testing/memory-pipe';
import { serveSerialMux } from './testing/serial-mux-guest';

describeGuestLink('a serial mux', async () => {
  const signal = AbortSignal.timeout(30_000);
  const [hostPort, guestPort] = createMemoryPipe();
  const [host, guest] = await Promise.all([establishSerialMux(hostPort, signal), serveSerialMux(guestPort, signal)]);
  return { host, guest, sever: () => void guestPort.destroy() };
});
