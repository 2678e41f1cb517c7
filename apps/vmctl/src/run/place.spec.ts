import { hasCode } from '@inquest/kernel';
import { parsePlace } from './place';

describe('parsePlace', () => {
  it.each([
    ['box:/etc/passwd', 'box', '/etc/passwd'],
    ['local-2345678923:/', 'local-2345678923', '/'],
    ['box:/a:b', 'box', '/a:b'],
    ['./a:b', null, './a:b'],
    ['/a:/b', null, '/a:/b'],
    ['file', null, 'file'],
    ['..', null, '..'],
  ])('takes %s as a place in machine %p at %s', (spec, machine, path) => {
    expect(parsePlace(spec)).toEqual({ machine, path });
  });

  it('refuses a relative path in a machine, and says how to name a file with a colon', () => {
    const attempt = (): unknown => parsePlace('box:file');
    expect(attempt).toThrow('./box:file');
    try {
      attempt();
    } catch (e) {
      expect(hasCode(e, 'CLI_USAGE_INVALID')).toBe(true);
    }
  });
});
