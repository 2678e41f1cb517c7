import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HybridVsockLink } from './hybrid-vsock-link';
import { FakeHybridVsockGuest } from './testing/fake-hybrid-vsock-guest';
import { describeGuestLink } from './testing/guest-link-conformance';

let directory: string;
let socketPath: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hybrid-vsock-'));
  socketPath = join(directory, 'vsock.sock');
});
afterEach(() => rm(directory, { recursive: true }));

const signal = (): AbortSignal => AbortSignal.timeout(30_000);

describeGuestLink('hybrid vsock', async () => {
  const guest = await FakeHybridVsockGuest.start(socketPath);
  return { host: new HybridVsockLink(socketPath), guest, sever: () => guest.sever() };
});

describe('HybridVsockLink', () => {
  it('says that the hypervisor is away when its socket does not exist', async () => {
    const link = new HybridVsockLink(socketPath);
    await expect(link.connect(9001, signal())).rejects.toMatchObject({ code: 'LINK_UNREACHABLE', fault: 'infra' });
    await link.close();
  });

  it.each(['OK\n', 'NO 1\n', `${'x'.repeat(100)}`])(
    'refuses the answer %j and leaves no connection',
    async (answer) => {
      const server = createServer();
      const dropped = new Promise<void>((resolve) => {
        server.once('connection', (socket) => {
          socket.once('close', () => resolve()).on('error', () => undefined);
          socket.resume().write(answer);
        });
      });
      await new Promise<void>((resolve) => server.listen(socketPath, resolve));
      const link = new HybridVsockLink(socketPath);
      await expect(link.connect(9001, signal())).rejects.toMatchObject({ code: 'LINK_HANDSHAKE_INVALID' });
      await dropped;
      await link.close();
      server.close();
    },
  );

  it('replaces a stale socket and leaves none behind', async () => {
    const stale = new HybridVsockLink(socketPath);
    await stale.listen(5000, (stream) => stream.destroy());
    const link = new HybridVsockLink(socketPath);
    await link.listen(5000, (stream) => stream.destroy());
    await link.close();
    expect(await readdir(directory)).toEqual([]);
    await stale.close();
  });

  it('does not remove a file that is no socket', async () => {
    const path = `${socketPath}_5000`;
    await writeFile(path, 'precious');
    const link = new HybridVsockLink(socketPath);
    await expect(link.listen(5000, (stream) => stream.destroy())).rejects.toMatchObject({ code: 'LINK_UNREACHABLE' });
    await link.close();
    expect(existsSync(path)).toBe(true);
  });
});
