import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { createMemoryLinkPair } from '@inquest/guest-link/testing';
import type { GuestLink } from '@inquest/guest-link';
import { MachineLink } from './machine-link';

const soon = (): AbortSignal => AbortSignal.timeout(10_000);

/** A guest that comes up when told; each session is a new pair. */
class Guest {
  readonly sessions: ReturnType<typeof createMemoryLinkPair>[] = [];
  private waiting: ((link: GuestLink) => void) | null = null;

  readonly open = (signal: AbortSignal): Promise<GuestLink> =>
    new Promise((resolve, reject) => {
      this.waiting = resolve;
      signal.addEventListener('abort', () => reject(new Error('gave up')), { once: true });
    });

  /** Waits until the host looks for a guest, and answers. */
  async comeUp(): Promise<ReturnType<typeof createMemoryLinkPair>> {
    while (this.waiting === null) await new Promise((resolve) => setImmediate(resolve));
    const pair = createMemoryLinkPair();
    await pair.guest.listen(9001, (stream) => void stream.on('error', () => undefined).pipe(stream));
    this.sessions.push(pair);
    this.waiting(pair.host);
    this.waiting = null;
    return pair;
  }
}

describe('MachineLink', () => {
  const echoOnce = async (stream: Duplex, text: string): Promise<string> => {
    stream.write(text);
    const [chunk] = (await once(stream, 'data')) as [Buffer];
    return chunk.toString();
  };

  it('holds a connect until the guest is up', async () => {
    const guest = new Guest();
    const link = new MachineLink(guest.open);
    const connecting = link.connect(9001, soon());
    await guest.comeUp();
    await expect(echoOnce(await connecting, 'hello')).resolves.toBe('hello');
    await link.close();
  });

  it('stops holding it when the caller gives up, and serves the next', async () => {
    const guest = new Guest();
    const link = new MachineLink(guest.open);
    const controller = new AbortController();
    const connecting = link.connect(9001, controller.signal);
    controller.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await guest.comeUp();
    await expect(link.connect(9001, soon())).resolves.toBeDefined();
    await link.close();
  });

  it('finds the guest again after a session broke, with the same listeners', async () => {
    const guest = new Guest();
    const link = new MachineLink(guest.open);
    const heard: string[] = [];
    await link.listen(3128, (stream) => void stream.on('data', (chunk: Buffer) => heard.push(chunk.toString())));
    (await guest.comeUp()).sever();
    const { guest: second } = await guest.comeUp();
    const stream = await second.connect(3128, soon());
    stream.end('again');
    await expect(echoOnce(await link.connect(9001, soon()), 'hello')).resolves.toBe('hello');
    expect(heard).toEqual(['again']);
    await link.close();
  });

  it('refuses a second listener on a port until the first is closed', async () => {
    const guest = new Guest();
    const link = new MachineLink(guest.open);
    const { guest: peer } = await guest.comeUp();
    await link.connect(9001, soon());
    const listener = await link.listen(3128, () => undefined);
    await expect(link.listen(3128, () => undefined)).rejects.toMatchObject({ code: 'LINK_PORT_IN_USE' });
    await listener.close();
    await expect(peer.connect(3128, soon())).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    await expect(link.listen(3128, () => undefined)).resolves.toMatchObject({ port: 3128 });
    await link.close();
  });

  it('fails what waits and what comes later once it is closed', async () => {
    const link = new MachineLink(new Guest().open);
    const connecting = link.connect(9001, soon());
    const refused = expect(connecting).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await link.close();
    await refused;
    await link.closed;
    await expect(link.connect(9001, soon())).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await expect(link.listen(3128, () => undefined)).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await link.close();
  });

  it('ends the session of a guest that answers after the end', async () => {
    const pair = createMemoryLinkPair();
    let answer: (link: GuestLink) => void = () => undefined;
    const link = new MachineLink(() => new Promise((resolve) => (answer = resolve)));
    const closing = link.close();
    answer(pair.host);
    await closing;
    await pair.guest.closed;
    await expect(pair.host.connect(9001, soon())).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });
});
