import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSerialMuxLink } from './serial-mux-link';
import { describeGuestLink } from './testing/guest-link-conformance';
import { serveSerialMux } from './testing/serial-mux-guest';
import { echo, readAll } from './testing/stream-bytes';

const signal = (): AbortSignal => AbortSignal.timeout(60_000);

let directory: string;
let socketPath: string;
let server: Server;
const sockets = new Set<Socket>();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serial-mux-'));
  socketPath = join(directory, 'mux.sock');
  server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.listen(socketPath);
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await rm(directory, { recursive: true });
});

/** The hypervisor's end of the next connection. */
const nextConnection = async (): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];

describeGuestLink('a serial mux on a Unix socket', async () => {
  const serving = nextConnection();
  const opening = openSerialMuxLink({ socketPath, signal: signal() });
  const socket = await serving;
  const [host, guest] = await Promise.all([opening, serveSerialMux(socket, signal())]);
  return { host, guest, sever: () => void socket.destroy() };
});

describe('openSerialMuxLink', () => {
  it('says that the hypervisor is away when its socket does not exist', async () => {
    const opening = openSerialMuxLink({ socketPath: `${socketPath}.none`, signal: signal() });
    await expect(opening).rejects.toMatchObject({ code: 'LINK_UNREACHABLE', fault: 'infra' });
  });

  it('gives up when it is cancelled before the guest is up, and a later try succeeds', async () => {
    const controller = new AbortController();
    const connected = nextConnection();
    const first = openSerialMuxLink({ socketPath, signal: controller.signal });
    const socket = await connected;
    const hungUp = once(socket.resume(), 'close');
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await hungUp;

    const serving = nextConnection().then((again) => serveSerialMux(again, signal()));
    const link = await openSerialMuxLink({ socketPath, signal: signal() });
    await (await serving).listen(9001, echo);
    const stream = await link.connect(9001, signal());
    stream.end('up');
    expect((await readAll(stream)).toString()).toBe('up');
    await link.close();
  });
});
