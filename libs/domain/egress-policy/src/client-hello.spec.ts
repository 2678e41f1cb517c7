import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { CLIENT_HELLO_MAX_BYTES, ClientHelloReader, type ClientHello } from './client-hello';
import { clientHelloBytes } from './testing';

const read = (...pieces: readonly Uint8Array[]): ClientHello | null => {
  const reader = new ClientHelloReader();
  for (const piece of pieces) {
    const hello = reader.push(piece);
    if (hello !== null) return hello;
  }
  return null;
};

/** The first bytes that Node's own TLS client sends. */
function realHello(options: { readonly servername?: string; readonly maxVersion?: 'TLSv1.2' }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const transport = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        resolve(bytes);
        done();
      },
    });
    connect({ socket: transport, ...options }).on('error', reject);
  });
}

describe('ClientHelloReader', () => {
  it.each(['TLSv1.2', undefined] as const)(
    'reads the server name of a real client (%s at most)',
    async (maxVersion) => {
      const bytes = await realHello({ servername: 'Example.org', ...(maxVersion === undefined ? {} : { maxVersion }) });
      expect(read(bytes)).toEqual({ serverName: 'example.org' });
    },
  );

  it('says that a real client named no server', async () => {
    expect(read(await realHello({}))).toEqual({ serverName: null });
  });

  it('gives the same for every way of cutting the bytes into pieces and the message into records', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat({ max: 600 }),
        (recordBytes, pieceBytes, paddingBytes) => {
          const bytes = clientHelloBytes({ serverNames: ['example.org'], recordBytes, paddingBytes });
          const pieces = [];
          for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
          expect(read(...pieces)).toEqual({ serverName: 'example.org' });
          expect(read(...pieces.slice(0, -1))).toBeNull();
        },
      ),
    );
  });

  it('does not look at what comes behind the hello', () => {
    const bytes = Buffer.concat([clientHelloBytes({ serverNames: ['example.org'] }), Buffer.from('whatever')]);
    expect(read(bytes)).toEqual({ serverName: 'example.org' });
  });

  it('takes a hello without extensions for one that names no server', () => {
    const body = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 0, 47, 1, 0])]);
    const message = Buffer.concat([Buffer.from([1, 0, 0, body.length]), body]);
    expect(read(Buffer.from([22, 3, 1, 0, message.length]), message)).toEqual({ serverName: null });
  });

  it.each<[string, Uint8Array, string]>([
    ['plain text', Buffer.from('GET / HTTP/1.1\r\n'), 'not TLS'],
    ['an alert', Buffer.from([21, 3, 3, 0, 2, 2, 40]), 'not TLS'],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 3, 1]), 'not TLS'],
    ['a record of an unknown version', Buffer.from([22, 2, 0, 0, 5]), 'unknown version'],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0]), 'valid length'],
    ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 1]), 'valid length'],
    ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]), 'no ClientHello'],
    ['a hello longer than its limit', Buffer.from([22, 3, 1, 0, 4, 1, 0, 0x40, 1]), `${CLIENT_HELLO_MAX_BYTES}`],
    ['a hello of no bytes', Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0]), 'length in it is wrong'],
    ['bytes behind its extensions', clientHelloBytes({ serverNames: null, trailer: Buffer.from('x') }), 'behind'],
    ['two server names', clientHelloBytes({ serverNames: ['a.example', 'b.example'] }), 'one host name'],
    ['two lists of server names', clientHelloBytes({ serverNames: ['a.example'], isRepeated: true }), 'two servers'],
    ['no name in its list', clientHelloBytes({ serverNames: [] }), 'length in it is wrong'],
    ['a name of another type', clientHelloBytes({ serverNames: ['a.example'], nameType: 1 }), 'one host name'],
    ['an address as its server name', clientHelloBytes({ serverNames: ['127.0.0.1'] }), 'one host name'],
    ['a server name with NUL', clientHelloBytes({ serverNames: ['a.example\0.b.example'] }), 'one host name'],
    ['a server name with a dot at its end', clientHelloBytes({ serverNames: ['a.example.'] }), 'one host name'],
  ])('refuses %s', (_, bytes, why) => {
    const refusal = { code: 'EGRESS_HELLO_INVALID', message: expect.stringContaining(why) };
    expect(() => read(bytes)).toThrow(expect.objectContaining(refusal));
  });

  it('throws nothing but its own refusal, whatever is changed in a hello', () => {
    const sound = clientHelloBytes({ serverNames: ['example.org'] });
    fc.assert(
      fc.property(fc.nat({ max: sound.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
        const bytes = Buffer.from(sound);
        bytes[at] = byte;
        try {
          read(bytes);
        } catch (e) {
          expect(e).toMatchObject({ code: 'EGRESS_HELLO_INVALID' });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
