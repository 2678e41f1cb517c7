import fc from 'fast-check';
import { isDotGit, pathFault, shownPath } from './safe-path';

const fault = (path: string): string | null => pathFault(path, 4096);

describe('pathFault', () => {
  it.each([
    'a',
    'src/index.ts',
    '.gitignore',
    '.gitattributes',
    '.github/x',
    'git',
    'my.git/x',
    'a b',
    'a\nb',
    '-rf',
    'ü/漢',
    'git~',
    'a\\b',
  ])('has nothing against %j', (path) => expect(fault(path)).toBeNull());

  it.each([
    ['', 'no name'],
    ['/etc/passwd', 'absolute'],
    ['..', 'leaves'],
    ['a/../../b', 'leaves'],
    ['a/./b', 'shortest'],
    ['a//b', 'shortest'],
    ['a/', 'shortest'],
    ['a\0b', 'NUL'],
    ['a\ufffdb', 'UTF-8'],
    ['x'.repeat(256), '255'],
    ['x/'.repeat(2100) + 'x', '4096'],
    ['.gitmodules', 'submodules'],
    ['sub/.GitModules', 'submodules'],
  ])('refuses %j', (path, why) => expect(fault(path)).toContain(why));

  it.each([
    '.git',
    '.git/config',
    'vendor/lib/.git/hooks/post-checkout',
    '.GIT/config',
    '.Git',
    'git~1',
    'GIT~1/config',
    'git~2',
    '.git.',
    '.git ',
    '.git . .',
    '.git::$INDEX_ALLOCATION/config',
    '.git:stream',
    '.g\u200cit/config',
    '\u200d.git',
    '.gi\u2060t',
    '.git\ufeff',
    '．ｇｉｔ',
    'a\\.git\\config',
  ])('knows %j for a .git', (path) => expect(fault(path)).toContain('.git'));

  it('knows .git in any case with invisible characters anywhere', () => {
    const invisible = fc.constantFrom(
      '',
      '\u200b',
      '\u200c',
      '\u200d',
      '\u200e',
      '\u202e',
      '\u2060',
      '\u206a',
      '\ufeff',
    );
    const letters = fc.constantFrom('.git', '.GIT', '.gIt', 'git~1', 'GiT~1');
    fc.assert(
      fc.property(letters, fc.array(invisible, { minLength: 6, maxLength: 6 }), (name, between) => {
        const disguised =
          [...name].map((letter, index) => (between[index] ?? '') + letter).join('') + (between[5] ?? '');
        expect(isDotGit(disguised)).toBe(true);
      }),
    );
  });
});

describe('shownPath', () => {
  it('makes every path printable, on one line and bounded', () => {
    expect(shownPath('a\nb\u001b[31m\u202e')).toBe('a\\u{a}b\\u{1b}[31m\\u{202e}');
    expect(shownPath('x'.repeat(5000)).length).toBeLessThan(310);
  });
});
