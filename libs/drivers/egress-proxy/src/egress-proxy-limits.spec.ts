import { Readable, type Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { EgressLimits } from './egress-limits';
import { connectTo, createProxyScene, helloFor, readBytes, whenClosed, type ProxyScene } from './testing/proxy-scene';

const OPEN_BYTES = 'HTTP/1.1 200 Connection established\r\n\r\n'.length;

describe('the limits of EgressProxy', () => {
  let scene: ProxyScene;
  afterEach(() => scene.close());

  const setScene = async (limits: Partial<EgressLimits>, serve?: (stream: Duplex) => void): Promise<void> =>
    void (scene = await createProxyScene({ limits, ...(serve === undefined ? {} : { serve }) }));

  async function openTunnel(): Promise<Duplex> {
    const stream = await scene.connect();
    stream.write(connectTo('allowed.example:443'));
    await readBytes(stream, OPEN_BYTES);
    return stream;
  }

  it('end a request that comes too slowly, without a lookup', async () => {
    await setScene({ requestMs: 30 });
    const stream = await scene.connect();
    stream.write('CONNECT allowed.exa');
    const answer = await text(stream);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toContain('"EGRESS_REQUEST_LATE"');
    expect(scene.network.lookups).toEqual([]);
    expect(scene.records).toMatchObject([{ verdict: 'refused', code: 'EGRESS_REQUEST_LATE' }]);
  });

  it('end a connection on which nothing is asked', async () => {
    await setScene({ requestMs: 30 });
    expect(await text(await scene.connect())).toContain('"EGRESS_REQUEST_LATE"');
  });

  it('end a tunnel whose ClientHello does not come', async () => {
    await setScene({ helloMs: 30 });
    const stream = await openTunnel();
    stream.write(helloFor('allowed.example').subarray(0, 20));
    await buffer(stream);
    expect(scene.records).toMatchObject([{ verdict: 'refused', code: 'EGRESS_HELLO_LATE' }]);
    expect(scene.received).toEqual([[]]);
  });

  it('end a ClientHello that does not end', async () => {
    await setScene({});
    const stream = await openTunnel();
    // One handshake record after the other; the message says that it is 16 MiB long.
    stream.write(Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff]));
    await buffer(stream);
    expect(scene.records).toMatchObject([{ verdict: 'refused', code: 'EGRESS_HELLO_INVALID' }]);
    expect(scene.received).toEqual([[]]);
  });

  it('end a name that is not resolved in time', async () => {
    await setScene({ resolveMs: 30 });
    const stream = await scene.connect();
    stream.write(connectTo('silent.example:443'));
    expect(await text(stream)).toContain('"EGRESS_NAME_UNRESOLVED"');
  });

  it.each([
    ['idle', { idleMs: 30 }, 'nothing moved for 30 ms'],
    ['open for too long', { totalMs: 30 }, 'it was open for 30 ms'],
  ])('end a tunnel that is %s', async (_, limits, message) => {
    await setScene(limits);
    const stream = await openTunnel();
    stream.write(helloFor('allowed.example'));
    stream.resume();
    await whenClosed(stream);
    await scene.proxy.close();
    expect(scene.records.at(-1)).toMatchObject({ verdict: 'allowed', isClosed: true, message });
  });

  it('turn away the connection that is one too many, until another one ends', async () => {
    await setScene({ maxConnections: 2 });
    const tunnels = [await openTunnel(), await openTunnel()];
    const third = await scene.connect();
    const answer = await text(third);
    expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(answer).toContain('"EGRESS_CONNECTIONS_EXHAUSTED"');
    expect(scene.network.dials).toHaveLength(2);
    tunnels[0]?.end(helloFor('allowed.example'));
    await buffer(tunnels[0] as Duplex);
    const fourth = await scene.connect();
    fourth.write(connectTo('allowed.example:443'));
    expect((await readBytes(fourth, OPEN_BYTES)).toString()).toContain(' 200 ');
  });

  it('lose nothing that a guest sent before it went, however late its host reads', async () => {
    const servers: Duplex[] = [];
    await setScene({}, (stream) => void servers.push(stream.pause()));
    const payload = Buffer.alloc(1024 * 1024, 7);
    const stream = await openTunnel();
    const server = servers[0] as Duplex;
    server.end('bye');
    stream.write(helloFor('allowed.example'));
    stream.end(payload);
    // The guest's end is closed once the proxy has taken all; the host has read nothing yet.
    expect((await readBytes(stream, 4)).toString()).toBe('bye');
    const received = await buffer(server);
    expect(received.subarray(-payload.length).equals(payload)).toBe(true);
    await scene.proxy.close();
    expect(scene.records.at(-1)).toMatchObject({ isClosed: true, message: 'both sides were done' });
  });

  it('make a guest wait whose host does not read, and nobody else', async () => {
    const servers: Duplex[] = [];
    await setScene({}, (stream) => {
      servers.push(stream);
      if (servers.length > 1) stream.pipe(stream);
    });
    const hello = helloFor('allowed.example');
    const stalled = await openTunnel();
    stalled.write(hello);
    const chunk = Buffer.alloc(64 * 1024, 1);
    const totalChunks = 256;
    let taken = 0;
    const source = Readable.from(
      (function* () {
        for (; taken < totalChunks; taken++) yield chunk;
      })(),
      { objectMode: true, highWaterMark: 1 },
    );
    source.pipe(stalled);
    const other = await openTunnel();
    other.write(hello);
    expect(await readBytes(other, hello.length)).toEqual(hello);
    for (let round = 0; round < 200; round++) {
      other.write(chunk);
      await readBytes(other, chunk.length);
    }
    // 12.5 MiB went through the other tunnel; the stalled one holds what its windows and buffers take.
    expect(taken * chunk.length).toBeLessThan(4 * 1024 * 1024);
    const all = await buffer(servers[0] as Duplex);
    expect(all.length).toBe(hello.length + totalChunks * chunk.length);
  });
});
