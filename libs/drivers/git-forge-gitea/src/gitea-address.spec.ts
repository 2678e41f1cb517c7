import { addressFault, GiteaAddress } from './gitea-address';

describe('GiteaAddress', () => {
  const address = GiteaAddress.parse('https://example.org/tools/git/', { allowHttp: false });

  it('keeps the sub-path in everything it makes', () => {
    expect(address.href).toBe('https://example.org/tools/git');
    expect(address.origin).toBe('https://example.org');
    expect(address.api(['repos', 'a', 'b'], { page: 2 }).href).toBe(
      'https://example.org/tools/git/api/v1/repos/a/b?page=2',
    );
    expect(address.clone('a', 'b')).toBe('https://example.org/tools/git/a/b.git');
    expect(address.page('a', 'b', 'pulls', '1')).toBe('https://example.org/tools/git/a/b/pulls/1');
  });

  it('lets no segment change the path', () => {
    expect(address.api(['repos', 'a/../..', '?x#y']).href).toBe(
      'https://example.org/tools/git/api/v1/repos/a%2F..%2F../%3Fx%23y',
    );
  });

  it.each([
    ['/tools/git/api/v1/repos/c/d', 'https://example.org/tools/git/api/v1/repos/c/d'],
    ['/api/v1/repos/c/d', null],
    ['/tools/git/api/v1/repos/../admin', null],
    ['//evil.example/tools/git/api/v1/repos/c/d', null],
    ['https://example.org:8443/tools/git/api/v1/repos/c/d', null],
    ['http://example.org/tools/git/api/v1/repos/c/d', null],
    ['https://x@example.org/tools/git/api/v1/repos/c/d', null],
    [null, null],
  ])('takes a redirect to %j for %j', (location, expected) => {
    const from = address.api(['repos', 'a', 'b']);
    expect(address.redirectTarget(from, location)?.href ?? null).toBe(expected);
  });
});

describe('addressFault', () => {
  it.each([
    'https://git.example.org',
    'https://example.org:8443/git/',
    'http://127.0.0.1:3000',
    'http://localhost/git',
    'http://[::1]:3000',
  ])('finds nothing wrong with %s', (url) => {
    expect(addressFault(url, false)).toBeNull();
  });

  it.each([
    ['git.example.org', /no URL/],
    ['https://robot:secret@example.org', /credentials/],
    ['https://example.org/?token=x', /query/],
    ['https://example.org/#x', /fragment/],
    ['ssh://example.org', /neither/],
    ['http://gitea:3000', /shows the token/],
    ['http://127.0.0.1.example.org', /shows the token/],
  ])('refuses %s', (url, why) => {
    expect(addressFault(url, false)).toMatch(why);
    expect(() => GiteaAddress.parse(url, { allowHttp: false })).toThrow(
      expect.objectContaining({ code: 'FORGE_ADDRESS_INVALID' }),
    );
  });

  it('takes http to another host when that was allowed', () => {
    expect(addressFault('http://gitea:3000', true)).toBeNull();
  });
});
