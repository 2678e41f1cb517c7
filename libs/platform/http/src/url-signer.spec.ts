import { UrlSigner } from './url-signer';

const signer = new UrlSigner({ urlSigningKey: 'k'.repeat(32) });
const verify = (method: string, originalUrl: string) => () => signer.verify({ method, originalUrl });
const code = (expected: string): Error => expect.objectContaining({ code: expected, status: 403 }) as Error;

describe('UrlSigner', () => {
  it.each(['/v1/files/7', '/v1/files?path=%2Fa%20b&x=1'])('accepts %s as it was signed', (path) => {
    expect(verify('GET', signer.signPath('GET', path, 60_000))).not.toThrow();
  });

  it('refuses another method, another path, another query and a later expiry', () => {
    const url = signer.signPath('GET', '/v1/files?path=a', 60_000);
    expect(verify('PUT', url)).toThrow(code('HTTP_SIGNATURE_REFUSED'));
    expect(verify('GET', url.replace('files', 'filez'))).toThrow(code('HTTP_SIGNATURE_REFUSED'));
    expect(verify('GET', url.replace('path=a', 'path=b'))).toThrow(code('HTTP_SIGNATURE_REFUSED'));
    expect(verify('GET', url.replace(/expires=\d+/, 'expires=9999999999999'))).toThrow(code('HTTP_SIGNATURE_REFUSED'));
    expect(verify('GET', `${url}&path=b`)).toThrow(code('HTTP_SIGNATURE_REFUSED'));
  });

  it('refuses the signature of another key', () => {
    const url = new UrlSigner({ urlSigningKey: 'j'.repeat(32) }).signPath('GET', '/a', 60_000);
    expect(verify('GET', url)).toThrow(code('HTTP_SIGNATURE_REFUSED'));
  });

  it('refuses a URL after its time', () => {
    expect(verify('GET', signer.signPath('GET', '/a', 0))).toThrow(code('HTTP_SIGNATURE_EXPIRED'));
  });

  it.each(['/a', '/a?expires=1', '/a?signature=x', `/a?expires=1&signature=${'A'.repeat(44)}`])('refuses %s', (url) => {
    expect(verify('GET', url)).toThrow(code('HTTP_SIGNATURE_REFUSED'));
  });
});
