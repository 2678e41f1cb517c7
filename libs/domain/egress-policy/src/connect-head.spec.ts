import fc from 'fast-check';
import { CONNECT_HEAD_MAX_BYTES, ConnectHeadReader, type ConnectHead } from './connect-head';

const read = (...pieces: readonly (string | Uint8Array)[]): ConnectHead | null => {
  const reader = new ConnectHeadReader();
  return pieces.map((piece) => reader.push(Buffer.from(piece))).find((head) => head !== null) ?? null;
};

describe('ConnectHeadReader', () => {
  it('gives the target, and what came behind the head', () => {
    const head = read('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n\x16\x03');
    expect(head?.authority).toBe('example.org:443');
    expect(Buffer.from(head?.rest ?? [])).toEqual(Buffer.from('\x16\x03'));
  });

  it('takes line ends without a carriage return, and a request without headers', () => {
    expect(read('CONNECT example.org:443 HTTP/1.0\n\n')?.authority).toBe('example.org:443');
  });

  it('gives the same for every way of cutting the bytes', () => {
    const bytes = Buffer.from('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\nrest of it');
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 6 }), (cuts) => {
        const reader = new ConnectHeadReader();
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        let head: ConnectHead | null = null;
        const rest: Uint8Array[] = [];
        for (const [index, end] of at.slice(1).entries()) {
          const piece = bytes.subarray(at[index], end);
          if (head !== null) rest.push(piece);
          else if ((head = reader.push(piece)) !== null) rest.push(head.rest);
        }
        expect(head?.authority).toBe('example.org:443');
        expect(Buffer.concat(rest).toString()).toBe('rest of it');
      }),
    );
  });

  it.each([
    'GET http://example.org/ HTTP/1.1\r\n\r\n',
    'connect example.org:443 HTTP/1.1\r\n\r\n',
    'POST / HTTP/1.1\r\n\r\n',
  ])('refuses another method than CONNECT: %j', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'EGRESS_METHOD_REFUSED' }));
  });

  it.each([
    'CONNECT example.org:443\r\n\r\n',
    'CONNECT example.org:443 HTTP/2.0\r\n\r\n',
    'CONNECT  example.org:443 HTTP/1.1\r\n\r\n',
    'CONNECT example.org:443 HTTP/1.1 \r\n\r\n',
    'CONNECT exa\rmple.org:443 HTTP/1.1\r\n\r\n',
    'CONNECT example.org:443\x00 HTTP/1.1\r\n\r\n',
    'CONNECT ex\xe4mple.org:443 HTTP/1.1\r\n\r\n',
    'HELLO\r\n\r\n',
  ])('refuses %j, which is no request', (text) => {
    expect(() => read(Buffer.from(text, 'latin1'))).toThrow(
      expect.objectContaining({ code: 'EGRESS_REQUEST_INVALID' }),
    );
  });

  it.each(['\x16\x03\x01', '\r\n', ' CONNECT', '\0'])('refuses %j at its first byte', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'EGRESS_REQUEST_INVALID' }));
  });

  it('reads no more than its limit, whether the head is one long line or many lines', () => {
    for (const filler of ['a'.repeat(64 * 1024), 'A: b\r\n'.repeat(8 * 1024)]) {
      expect(() => read(`CONNECT example.org:443 HTTP/1.1\r\n${filler}`)).toThrow(
        expect.objectContaining({ code: 'EGRESS_REQUEST_OVERSIZED', message: expect.stringContaining('8192') }),
      );
    }
  });

  it('takes a head that is exactly as long as its limit', () => {
    const start = 'CONNECT example.org:443 HTTP/1.1\r\nA: ';
    const filler = 'a'.repeat(CONNECT_HEAD_MAX_BYTES - start.length - 4);
    expect(read(`${start}${filler}\r\n\r\n`)?.authority).toBe('example.org:443');
    expect(() => read(`${start}${filler}a\r\n\r\n`)).toThrow(
      expect.objectContaining({ code: 'EGRESS_REQUEST_OVERSIZED' }),
    );
  });

  it('throws nothing but its own refusals, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          read(bytes);
        } catch (e) {
          expect((e as { code: string }).code).toMatch(/^EGRESS_(REQUEST|METHOD)_/);
        }
      }),
    );
  });
});
