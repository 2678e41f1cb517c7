import { Redactor } from './redactor';

describe('Redactor', () => {
  it('masks registered values as they are, in URLs and in Base64', () => {
    const redactor = new Redactor();
    redactor.register('p@ss word!');
    const text = `p@ss word! ${encodeURIComponent('p@ss word!')} ${Buffer.from('p@ss word!').toString('base64')}`;
    expect(redactor.redact(text)).toBe('[redacted] [redacted] [redacted]IQ==');
  });

  it('masks the longer one of two values that begin alike', () => {
    const redactor = new Redactor();
    redactor.register('secret');
    redactor.register('secret-and-more');
    expect(redactor.redact('secret-and-more')).toBe('[redacted]');
  });

  it('does not mask short words', () => {
    const redactor = new Redactor();
    redactor.register('abc');
    expect(redactor.redact('abc')).toBe('abc');
  });

  it.each([
    ['Authorization: Bearer abcdefghijkl0123', 'Authorization: Bearer [redacted]'],
    [`ghp_${'a1'.repeat(18)}`, '[redacted]'],
    [`sk-${'a1'.repeat(12)}`, '[redacted]'],
    ['postgres://inquest:hunter2@127.0.0.1/x', 'postgres://inquest:[redacted]@127.0.0.1/x'],
    [`/v1/x?expires=1&signature=${'A'.repeat(43)}`, '/v1/x?expires=1&signature=[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE+/\n-----END', '[redacted]-----END'],
  ])('masks the token in %j', (text, masked) => {
    expect(new Redactor().redact(text)).toBe(masked);
  });

  it.each(['basic authentication is off', 'the token refused', 'commit 1f2e3d4c', 'http://127.0.0.1:8080/a@b'])(
    'leaves %j as it is',
    (text) => {
      expect(new Redactor().redact(text)).toBe(text);
    },
  );

  it('is fast on hostile text', () => {
    const redactor = new Redactor();
    for (const part of ['-----BEGIN PRIVATE KEY-----', 'Bearer a', '://a:', 'eyJaaaaaaaa.', 'sk-a', 'token ']) {
      const startedMs = performance.now();
      redactor.redact(part.repeat(20_000));
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    }
  });
});
