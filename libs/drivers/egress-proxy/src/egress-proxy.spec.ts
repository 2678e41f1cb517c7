import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { eventually } from '@inquest/testing';
import { connectTo, createProxyScene, helloFor, readBytes, whenClosed, type ProxyScene } from './testing/proxy-scene';

const OPEN = 'HTTP/1.1 200 Connection established\r\n\r\n';

describe('EgressProxy', () => {
  let scene: ProxyScene;
  beforeEach(async () => void (scene = await createProxyScene()));
  afterEach(() => scene.close());

  /** All that comes back for these bytes, until the proxy ends the connection. */
  async function ask(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
    const stream = await scene.connect();
    for (const piece of pieces) stream.write(piece);
    return text(stream);
  }

  /** A tunnel to a host that is allowed, before any TLS. */
  async function openTunnel(host = 'allowed.example'): Promise<Duplex> {
    const stream = await scene.connect();
    stream.write(connectTo(`${host}:443`));
    expect((await readBytes(stream, OPEN.length)).toString()).toBe(OPEN);
    return stream;
  }

  describe('a tunnel to an allowed host', () => {
    it('carries the ClientHello and what follows, both ways, and says what passed', async () => {
      const hello = helloFor('allowed.example');
      const stream = await openTunnel();
      stream.write(hello);
      expect(await readBytes(stream, hello.length)).toEqual(hello);
      stream.end('more');
      expect((await buffer(stream)).toString()).toBe('more');
      await scene.close();
      const bytes = hello.length + 4;
      const where = { way: 'proxy', host: 'allowed.example', port: 443, address: '93.184.215.14', code: null };
      expect(scene.records).toMatchObject([
        { ...where, verdict: 'allowed', isClosed: false, bytesUp: 0, bytesDown: 0 },
        { ...where, verdict: 'allowed', isClosed: true, bytesUp: bytes, bytesDown: bytes },
      ]);
      expect(scene.network.dials).toEqual(['93.184.215.14 443']);
    });

    it('opens when everything comes in one piece, or byte by byte', async () => {
      const hello = helloFor('allowed.example');
      const all = Buffer.concat([Buffer.from(connectTo('ALLOWED.example:443')), hello]);
      const whole = await scene.connect();
      whole.end(all);
      expect(await buffer(whole)).toEqual(Buffer.concat([Buffer.from(OPEN), hello]));
      const cut = await scene.connect();
      for (const byte of all) cut.write(Buffer.of(byte));
      cut.end();
      expect(await buffer(cut)).toEqual(Buffer.concat([Buffer.from(OPEN), hello]));
    });

    it('goes to the next address when one does not answer', async () => {
      await openTunnel('two.example');
      expect(scene.network.dials).toEqual(['93.184.215.15 443', '93.184.215.14 443']);
    });
  });

  describe('a request that breaks a rule', () => {
    const refusals: readonly (readonly [string, string, string])[] = [
      ['a host that is not allowed', connectTo('denied.example:443'), 'EGRESS_HOST_DENIED'],
      ['the suffix of a wildcard', connectTo('wild.example:443'), 'EGRESS_HOST_DENIED'],
      ['an IP address', connectTo('93.184.215.14:443'), 'EGRESS_ADDRESS_LITERAL'],
      ['an IP address in another notation', connectTo('0x5db8d70e:443'), 'EGRESS_ADDRESS_LITERAL'],
      ['an IPv6 address', connectTo('[2606:4700::1]:443'), 'EGRESS_ADDRESS_LITERAL'],
      ['the proxy itself', connectTo('127.0.0.1:3128'), 'EGRESS_ADDRESS_LITERAL'],
      ['the proxy itself by name', connectTo('localhost:3128'), 'EGRESS_PORT_REFUSED'],
      ['another port', connectTo('allowed.example:80'), 'EGRESS_PORT_REFUSED'],
      ['a target that is none', connectTo('allowed.example'), 'EGRESS_REQUEST_INVALID'],
      ['a plain HTTP request', 'GET http://allowed.example/ HTTP/1.1\r\n\r\n', 'EGRESS_METHOD_REFUSED'],
      ['a request to the proxy', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 'EGRESS_METHOD_REFUSED'],
      ['something else than HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'EGRESS_REQUEST_INVALID'],
      [
        'a head that is too long',
        `CONNECT allowed.example:443 HTTP/1.1\r\nA: ${'a'.repeat(9000)}\r\n\r\n`,
        'EGRESS_REQUEST_OVERSIZED',
      ],
    ];

    it.each(refusals)(
      'is refused by the proxy, which names the rule, without a lookup: %s',
      async (_, request, code) => {
        const answer = await ask(request);
        const [head = '', body = ''] = answer.split('\r\n\r\n');
        expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
        expect(head).toContain(`Proxy-Status: inquest; error=http_request_denied; details="${code}"`);
        expect(JSON.parse(body)).toMatchObject({ status: 403, code, fault: 'guest', remediation: expect.any(String) });
        expect(scene.network.lookups).toEqual([]);
        expect(scene.network.dials).toEqual([]);
        expect(scene.records).toMatchObject([{ verdict: 'refused', code, isClosed: true, bytesUp: 0, bytesDown: 0 }]);
      },
    );

    it('is recorded with the host and port that were asked for', async () => {
      await ask(connectTo('Denied.example:443'));
      expect(scene.records).toMatchObject([{ host: 'denied.example', port: 443, address: null }]);
    });

    it.each(['private.example', 'mixed.example', 'mapped.example', 'metadata.example'])(
      'is refused after one lookup when %s does not resolve to public addresses only',
      async (host) => {
        const answer = await ask(connectTo(`${host}:443`));
        expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
        expect(answer).toContain('error=destination_ip_prohibited; details="EGRESS_ADDRESS_PRIVATE"');
        expect(scene.network.lookups).toEqual([host]);
        expect(scene.network.dials).toEqual([]);
      },
    );
  });

  describe('a tunnel whose TLS is not to its host', () => {
    it.each([
      ['another host', helloFor('denied.example'), 'EGRESS_SNI_DIFFERENT'],
      ['another allowed host', helloFor('two.example'), 'EGRESS_SNI_DIFFERENT'],
      ['a host below its own', helloFor('www.allowed.example'), 'EGRESS_SNI_DIFFERENT'],
    ])('is ended with a TLS alert before a byte of it leaves: %s', async (_, hello, code) => {
      const stream = await openTunnel();
      stream.write(hello);
      // A fatal alert: unrecognized_name.
      expect(await buffer(stream)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
      expect(scene.records).toMatchObject([{ verdict: 'refused', code, host: 'allowed.example', bytesUp: 0 }]);
      expect(scene.received).toEqual([[]]);
    });

    it('is ended with an answer in HTTP when it carries no TLS at all', async () => {
      const stream = await openTunnel();
      stream.write('GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n');
      const answer = await text(stream);
      expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(answer).toContain('"EGRESS_HELLO_INVALID"');
      expect(scene.received).toEqual([[]]);
    });

    it('is ended when it ends before its hello is whole', async () => {
      const stream = await openTunnel();
      stream.end(helloFor('allowed.example').subarray(0, 40));
      await buffer(stream);
      expect(scene.records).toMatchObject([{ verdict: 'refused', code: 'EGRESS_HELLO_INVALID', isClosed: true }]);
      expect(scene.received).toEqual([[]]);
    });
  });

  describe('a host that is allowed and cannot be reached', () => {
    it.each([
      ['unknown.example', 'dns_error', 'EGRESS_NAME_UNRESOLVED'],
      ['dead.example', 'destination_unavailable', 'EGRESS_HOST_UNREACHABLE'],
    ])('is a failure and no refusal: %s', async (host, error, code) => {
      const answer = await ask(connectTo(`${host}:443`));
      expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
      expect(answer).toContain(`error=${error}; details="${code}"`);
      expect(scene.records).toMatchObject([{ verdict: 'failed', code, host, isClosed: true }]);
    });
  });

  it('records a tunnel that the guest did not use as one without bytes', async () => {
    const stream = await openTunnel();
    stream.end();
    await whenClosed(stream.resume());
    await scene.close();
    expect(scene.records).toMatchObject([{ verdict: 'allowed', code: null, isClosed: true, bytesUp: 0, bytesDown: 0 }]);
    expect(scene.received).toEqual([[]]);
  });

  it('records nothing when nothing was asked', async () => {
    const stream = await scene.connect();
    stream.end();
    expect(await buffer(stream)).toHaveLength(0);
    await scene.close();
    expect(scene.records).toEqual([]);
  });

  it('gives up a lookup when the guest goes away', async () => {
    const stream = await scene.connect();
    stream.write(connectTo('silent.example:443'));
    await eventually(() => expect(scene.network.lookups).toEqual(['silent.example']));
    stream.destroy();
    await whenClosed(stream);
    await scene.close();
    expect(scene.proxy.openCount).toBe(0);
    expect(scene.network.dials).toEqual([]);
  });

  it('ends its tunnels when it is closed, and takes no further connection', async () => {
    const stream = await openTunnel();
    const hello = helloFor('allowed.example');
    stream.write(hello);
    await readBytes(stream, hello.length);
    await scene.proxy.close();
    expect(scene.proxy.openCount).toBe(0);
    expect(scene.records.at(-1)).toMatchObject({ isClosed: true, message: 'the way out was closed' });
    const late = await scene.connect();
    await whenClosed(late);
    expect(scene.records).toHaveLength(2);
  });
});
