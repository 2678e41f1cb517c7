import path from 'node:path';
import { FRAME_PORT } from '@inquest/frame-protocol';
import { HybridVsockLink } from '@inquest/guest-link';
import { FakeHybridVsockGuest } from '@inquest/guest-link/testing';
import { tempDir } from '@inquest/testing';
import { MicrovmLink } from './microvm-link';

const soon = (): AbortSignal => AbortSignal.timeout(30_000);

describe('MicrovmLink', () => {
  let root: Awaited<ReturnType<typeof tempDir>>;
  let socketPath: string;
  let link: MicrovmLink;
  beforeEach(async () => {
    root = await tempDir('microvm');
    socketPath = path.join(root.path, 'v.sock');
    link = new MicrovmLink(new HybridVsockLink(socketPath));
  });
  afterEach(async () => {
    await link.close();
    await root.remove();
  });

  it('waits for a monitor that is not there yet and a guest that does not listen yet', async () => {
    const connecting = link.connect(FRAME_PORT, soon());
    const guest = await FakeHybridVsockGuest.start(socketPath);
    const accepted = new Promise<void>((resolve) => {
      void guest.listen(FRAME_PORT, (stream) => {
        resolve();
        stream.resume();
      });
    });
    (await connecting).destroy();
    await accepted;
    await guest.close();
  });

  it('refuses what a guest that is up refuses, also on the first try', async () => {
    const guest = await FakeHybridVsockGuest.start(socketPath);
    await guest.listen(FRAME_PORT, (stream) => void stream.resume());
    await expect(link.connect(5000, soon())).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    await guest.close();
  });

  it('stops waiting when the caller gives up, and when the machine has ended', async () => {
    const controller = new AbortController();
    const abandoned = link.connect(FRAME_PORT, controller.signal);
    const waiting = link.connect(FRAME_PORT, soon());
    controller.abort();
    await expect(abandoned).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await link.close();
    await expect(waiting).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });
});
