import { once } from 'node:events';
import { type Duplex } from 'node:stream';
import { type GuestLink } from '../guest-link';
import { type LinkPair } from './link-pair';
import { echo, exchange, gone, readAll, readBytes } from './stream-bytes';

const PORT = 9001;
const signal = (): AbortSignal => AbortSignal.timeout(60_000);

/** A pattern without a short period, so that lost, doubled and swapped bytes all show. */
const pattern = (sizeBytes: number): Buffer => {
  const bytes = Buffer.alloc(sizeBytes);
  for (let i = 0; i < sizeBytes; i++) bytes[i] = (i * 31 + (i >>> 8) * 7 + (i >>> 16)) & 0xff;
  return bytes;
};

/** The next stream that `link` is asked for on `port`. */
const nextStream = (
  link: GuestLink,
  port: number,
): { readonly stream: Promise<Duplex>; readonly bound: Promise<unknown> } => {
  let take: (stream: Duplex) => void = () => undefined;
  const stream = new Promise<Duplex>((resolve) => (take = resolve));
  return { stream, bound: link.listen(port, (opened) => take(opened)) };
};

async function openPair(from: GuestLink, to: GuestLink): Promise<readonly [Duplex, Duplex]> {
  const { stream, bound } = nextStream(to, PORT);
  await bound;
  return Promise.all([from.connect(PORT, signal()), stream]);
}

/** What a guest link may lack. */
export interface GuestLinkTraits {
  /** Each direction of a stream ends by itself. Default: true. */
  readonly halfCloses?: boolean;
}

/** What every guest link promises, whatever carries it. `make` gives a fresh pair, which the suite closes. */
export function describeGuestLink(
  name: string,
  make: () => Promise<LinkPair>,
  { halfCloses = true }: GuestLinkTraits = {},
): void {
  describe(`guest link over ${name}`, () => {
    let pair: LinkPair;
    beforeEach(async () => {
      pair = await make();
    });
    afterEach(async () => {
      await pair.host.close();
      await pair.guest.close();
    });

    describeStreams(() => pair);
    describeFirstBytes(() => pair);
    if (halfCloses) describeHalfClose(() => pair);
    describeRefusals(() => pair);
    describeEndings(() => pair);
  });
}

function describeStreams(pair: () => LinkPair): void {
  it('carries every byte in order in both directions at once', async () => {
    await pair().guest.listen(PORT, echo);
    const stream = await pair().host.connect(PORT, signal());
    const bytes = pattern(3 * 1024 * 1024 + 17);
    const received = await exchange(stream, bytes, 50_000);
    expect(received.equals(bytes)).toBe(true);
  });

  it('carries streams that the guest opens', async () => {
    await pair().host.listen(PORT, echo);
    const stream = await pair().guest.connect(PORT, signal());
    const bytes = pattern(300_000);
    const received = await exchange(stream, bytes);
    expect(received.equals(bytes)).toBe(true);
  });

  it('loses nothing that the acceptor sends right behind its answer', async () => {
    await pair().guest.listen(PORT, (stream) => void stream.end('first words\n'));
    const stream = await pair().host.connect(PORT, signal());
    expect((await readAll(stream)).toString()).toBe('first words\n');
  });

  it('delivers everything that was sent before the end of a stream, and then the end', async () => {
    const [host, guest] = await openPair(pair().host, pair().guest);
    const bytes = pattern(200_000);
    const received = readAll(guest);
    host.end(bytes);
    expect((await received).equals(bytes)).toBe(true);
    guest.destroy();
  });

  it('holds back the writer of a stream that nobody reads, and stalls no other', async () => {
    const [host, guest] = await openPair(pair().host, pair().guest);
    guest.pause();
    let writtenBytes = 0;
    const chunk = Buffer.alloc(64 * 1024);
    while (writtenBytes < 64 * 1024 * 1024 && (host.write(chunk) || (await drainsWithin(host, 100)))) {
      writtenBytes += chunk.length;
    }
    expect(writtenBytes).toBeLessThan(4 * 1024 * 1024);

    await pair().guest.listen(PORT + 1, echo);
    const other = await pair().host.connect(PORT + 1, signal());
    const bytes = pattern(1024 * 1024);
    const received = await exchange(other, bytes);
    expect(received.equals(bytes)).toBe(true);
  });

  it('serves many streams at once without mixing them up', async () => {
    await pair().guest.listen(PORT, echo);
    const texts = Array.from({ length: 100 }, (_, i) => `stream ${i} `.repeat(200));
    const received = await Promise.all(
      texts.map(async (text) => {
        const stream = await pair().host.connect(PORT, signal());
        return (await exchange(stream, Buffer.from(text), 100)).toString();
      }),
    );
    expect(received).toEqual(texts);
  });
}

function describeFirstBytes(pair: () => LinkPair): void {
  it('carries the first bytes that come with the request for a port before everything else', async () => {
    await pair().guest.listen(PORT, echo);
    const first = pattern(1024 * 1024);
    const stream = await pair().host.connect(PORT, signal(), () => first);
    const bytes = Buffer.concat([first, Buffer.from('the rest')]);
    stream.write('the rest');
    expect((await readBytes(stream, bytes.length)).equals(bytes)).toBe(true);
    stream.resume().end();
  });

  it('shows the first bytes to nobody when nobody listens on the port', async () => {
    const refused = pair().host.connect(PORT, signal(), () => Buffer.from('for nobody'));
    await expect(refused).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    const [host, guest] = await openPair(pair().host, pair().guest);
    host.end('for this one');
    expect((await readAll(guest)).toString()).toBe('for this one');
  });

  it('rejects with what the maker of the first bytes throws, and goes on working', async () => {
    await pair().guest.listen(PORT, echo);
    const failed = pair().host.connect(PORT, signal(), () => {
      throw new RangeError('too many bytes');
    });
    await expect(failed).rejects.toThrow('too many bytes');
    const stream = await pair().host.connect(PORT, signal());
    expect((await exchange(stream, Buffer.from('x'))).toString()).toBe('x');
  });
}

function describeHalfClose(pair: () => LinkPair): void {
  it('still delivers the answer after the request was half-closed', async () => {
    const [host, guest] = await openPair(pair().host, pair().guest);
    host.end('question');
    expect((await readAll(guest)).toString()).toBe('question');
    guest.end('answer');
    expect((await readAll(host)).toString()).toBe('answer');
  });
}

function describeRefusals(pair: () => LinkPair): void {
  it('refuses a port that nobody listens on, and goes on working', async () => {
    await expect(pair().host.connect(PORT, signal())).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    const [host, guest] = await openPair(pair().host, pair().guest);
    host.end('x');
    expect((await readAll(guest)).toString()).toBe('x');
  });

  it.each([0, -1, 1.5, 0xffff_ffff, Number.NaN])('knows that %p is no port', async (port) => {
    await expect(pair().host.connect(port, signal())).rejects.toMatchObject({ code: 'LINK_PORT_INVALID' });
    await expect(pair().host.listen(port, echo)).rejects.toMatchObject({ code: 'LINK_PORT_INVALID' });
  });

  it('gives a port to one listener at a time', async () => {
    const first = await pair().host.listen(PORT, echo);
    await expect(pair().host.listen(PORT, echo)).rejects.toMatchObject({ code: 'LINK_PORT_IN_USE' });
    await first.close();
    await expect(pair().host.listen(PORT, echo)).resolves.toMatchObject({ port: PORT });
  });

  it('refuses streams to a listener that was closed, and leaves the accepted ones open', async () => {
    const accepted: Duplex[] = [];
    const listener = await pair().host.listen(PORT, (stream) => {
      accepted.push(stream);
      echo(stream);
    });
    const stream = await pair().guest.connect(PORT, signal());
    const echoed = once(stream, 'data');
    stream.write('before');
    await echoed;
    await listener.close();
    await listener.close();
    await expect(pair().guest.connect(PORT, signal())).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    expect((await exchange(stream, Buffer.from('after'))).toString()).toBe('after');
    expect(accepted).toHaveLength(1);
  });

  it('opens nothing for a caller who has cancelled', async () => {
    let accepted = 0;
    await pair().guest.listen(PORT, () => accepted++);
    await expect(pair().host.connect(PORT, AbortSignal.abort())).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(accepted).toBe(0);
  });
}

function describeEndings(pair: () => LinkPair): void {
  it('ends every stream, refuses new ones and says so when it is closed', async () => {
    const [host, guest] = await openPair(pair().host, pair().guest);
    const guestClosed = gone(guest);
    const failed = readAll(host).catch((e: unknown) => e);
    await pair().host.close();
    await pair().host.close();
    await pair().host.closed;
    expect(await failed).toMatchObject({ code: 'LINK_CLOSED' });
    guest.resume().end();
    await guestClosed;
    await expect(pair().host.connect(PORT, signal())).rejects.toMatchObject({ code: 'LINK_CLOSED' });
    await expect(pair().host.listen(PORT, echo)).rejects.toMatchObject({ code: 'LINK_CLOSED' });
  });

  it('tells the peer when a stream is destroyed', async () => {
    const [host, guest] = await openPair(pair().host, pair().guest);
    const over = gone(host);
    const ended = readAll(host).catch(() => null);
    guest.destroy();
    await ended;
    host.end();
    await over;
    expect(host.destroyed).toBe(true);
  });

  // Last: a suite whose guests take time to boot need not boot another one.
  it('ends the stream of a reader at once when the guest vanishes', async () => {
    const [host] = await openPair(pair().host, pair().guest);
    const over = gone(host);
    const received = readAll(host).catch(() => Buffer.alloc(0));
    pair().sever();
    expect(await received).toHaveLength(0);
    host.end();
    await over;
  });
}

/** True when the stream takes more within `ms`. A stall has no event: silence is what is tested. */
const drainsWithin = (stream: Duplex, ms: number): Promise<boolean> =>
  once(stream, 'drain', { signal: AbortSignal.timeout(ms) }).then(
    () => true,
    () => false,
  );
