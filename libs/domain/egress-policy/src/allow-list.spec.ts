import fc from 'fast-check';
import { ALLOW_LIST_MAX_ENTRIES, AllowList } from './allow-list';

describe('AllowList', () => {
  const list = AllowList.parse(['Example.org', '*.Packages.example']);

  it.each(['example.org', 'a.packages.example', 'a.b.packages.example'])('allows %s', (host) => {
    expect(list.allows(host)).toBe(true);
  });

  it.each([
    'www.example.org',
    'example.org.evil.example',
    'notexample.org',
    'packages.example',
    'evilpackages.example',
    '.packages.example',
    'org',
    '',
  ])('does not allow %j', (host) => {
    expect(list.allows(host)).toBe(false);
  });

  it('allows nothing when it is empty', () => {
    expect(AllowList.parse([]).allows('example.org')).toBe(false);
  });

  it.each([
    '*',
    '*.',
    '*.org',
    'localhost',
    '10.0.0.1',
    '*.0.0.1',
    '[::1]',
    'https://example.org',
    'example.org:443',
    'a*.example.org',
    '*.*.example.org',
    ' example.org',
    'example.org\n',
  ])('takes no entry %j', (entry) => {
    expect(() => AllowList.parse(['example.org', entry])).toThrow(
      expect.objectContaining({ code: 'EGRESS_ENTRY_INVALID', fault: 'caller' }),
    );
  });

  it('has a bounded number of entries', () => {
    const entries = Array.from({ length: ALLOW_LIST_MAX_ENTRIES + 1 }, (_, at) => `h${at}.example`);
    expect(() => AllowList.parse(entries)).toThrow(expect.objectContaining({ code: 'EGRESS_ENTRY_INVALID' }));
    expect(AllowList.parse(entries.slice(1)).allows('h1.example')).toBe(true);
  });

  it('allows by a wildcard exactly the names that have one label or more in front of its suffix', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.array(label, { maxLength: 4 }), label, (front, glued) => {
        const wildcard = AllowList.parse(['*.below.example']);
        expect(wildcard.allows([...front, 'below', 'example'].join('.'))).toBe(front.length > 0);
        expect(wildcard.allows(`${glued}below.example`)).toBe(false);
      }),
    );
  });
});
