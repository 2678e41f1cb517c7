import { chmod, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pack } from 'tar-stream';
import type { CommitResult } from './project-repository';
import { ProjectFixture } from './testing/project-fixture';
import type { TarEntry } from './testing/tar-archive';

const GIB = 1024 ** 3;

describe('a hostile tree', () => {
  let project: ProjectFixture;
  beforeEach(async () => {
    project = await ProjectFixture.make();
  });
  afterEach(() => project.close());

  /** The commit has every entry but those that the result names, each as it was. */
  function expectTreeMinusReport(entries: readonly TarEntry[], { held, refused }: CommitResult): void {
    const reported = new Set([...held, ...refused].map(({ path }) => path));
    const expected = entries.filter(({ name, type }) => type !== 'directory' && !reported.has(name));
    expect(project.paths().sort()).toEqual(expected.map(({ name }) => name).sort());
    for (const { name, content = '', linkname } of expected) {
      expect(project.git('cat-file', 'blob', `HEAD:${name}`)).toBe((linkname ?? content.toString()).trimEnd());
    }
    expect(project.git('fsck', '--strict')).toBe('');
  }

  const trapped = async (): Promise<string> => {
    const trap = project.at('trap.sh');
    await writeFile(trap, `#!/bin/sh\ntouch ${project.at('canary')}\n`);
    await chmod(trap, 0o755);
    return trap;
  };

  it.each<[string, (trap: string) => readonly TarEntry[], readonly string[]]>([
    [
      'with hooks, filters, a monitor and text conversions in a repository of its own',
      (trap) => [
        { name: '.git/hooks/pre-commit', content: `#!/bin/sh\nexec ${trap}\n`, mode: 0o755 },
        {
          name: '.git/config',
          content: `[core]\n\tfsmonitor = ${trap}\n\thooksPath = hooks\n[filter "x"]\n\tclean = ${trap}\n`,
        },
        { name: '.git/info/attributes', content: '* filter=x diff=x\n' },
        {
          name: '.gitattributes',
          content: '* filter=x diff=x merge=x text eol=crlf working-tree-encoding=UTF-16 ident\n',
        },
        { name: '.gitconfig', content: `[diff "x"]\n\ttextconv = ${trap}\n[alias]\n\tcommit = !${trap}\n` },
        { name: '.gitignore', content: '*\n' },
        { name: 'hooks/post-commit', content: `#!/bin/sh\nexec ${trap}\n`, mode: 0o755 },
        { name: 'a.txt', content: '$Id$ one\r\n' },
      ],
      ['.git/config', '.git/hooks/pre-commit', '.git/info/attributes'],
    ],
    [
      'with repositories inside, as directories and as files that point elsewhere',
      (trap) => [
        { name: 'sub/.git/HEAD', content: 'ref: refs/heads/main\n' },
        { name: 'sub/.git/config', content: `[core]\n\tsshCommand = ${trap}\n` },
        { name: 'sub/a.txt', content: 'taken' },
        { name: 'linked/.git', content: 'gitdir: /etc\n' },
        { name: 'linked/b.txt', content: 'taken' },
        { name: '.git', content: 'gitdir: ../elsewhere\n' },
        { name: 'deep/.git', type: 'symlink', linkname: '/etc' },
        { name: '.gitmodules', content: `[submodule "x"]\n\tpath = sub\n\turl = ext::${trap}\n` },
      ],
      ['.git', '.gitmodules', 'deep/.git', 'linked/.git', 'sub/.git/HEAD', 'sub/.git/config'],
    ],
    [
      'with links to directories of the host, and files below them',
      () => [
        { name: 'etc', type: 'symlink', linkname: '/etc' },
        { name: 'etc/passwd', content: 'evil' },
        { name: 'up', type: 'symlink', linkname: '../../../..' },
        { name: 'up/etc/passwd', content: 'evil' },
        { name: 'self', type: 'symlink', linkname: 'self' },
        { name: 'proc', type: 'symlink', linkname: '/proc/self/environ' },
      ],
      ['etc/passwd', 'up/etc/passwd'],
    ],
    [
      'with names that some file system takes for .git',
      () => [
        ...['.GIT', '.gIt', 'git~1', 'GIT~2', '.git.', '.git ', '.git::$INDEX_ALLOCATION', '.g\u0456t'].map((name) => ({
          name: `${name}/config`,
          content: 'x',
        })),
        ...['.g\u200cit', '.\u200bgit', '\ufeff.git', '.gi\u2060t', '.\uff47\uff49\uff54', 'a\\.git\\config'].map(
          (name) => ({ name, content: 'x' }),
        ),
        { name: '.github/workflow.yml', content: 'fine' },
        { name: 'git', content: 'fine' },
      ],
      // A look-alike of Cyrillic letters is no .git to any file system; what is shown of the invisible ones is escaped.
      [
        '.GIT/config',
        '.gIt/config',
        'git~1/config',
        'GIT~2/config',
        '.git./config',
        '.git /config',
        '.git::$INDEX_ALLOCATION/config',
        '.g\\u{200c}it',
        '.\\u{200b}git',
        '\\u{feff}.git',
        '.gi\\u{2060}t',
        '.\uff47\uff49\uff54',
        'a\\.git\\config',
      ],
    ],
    [
      'with names made of line breaks, quotes, options and pathspecs',
      () =>
        [
          'a\nb',
          'a\rb',
          '\t',
          '-rf',
          '--index-info',
          '"',
          "'",
          '$(id)',
          '`id`',
          ':(top)x',
          '*',
          '#',
          'x\\y',
          'a b ',
        ].map((name) => ({ name, content: 'x' })),
      [],
    ],
  ])('%s is committed without what is reported; nothing of it runs or is followed', async (_, make, refused) => {
    const entries = make(await trapped());
    const result = await project.commit(entries);
    expect(result.held).toEqual([]);
    expect(result.refused.map(({ path }) => path).sort()).toEqual([...refused].sort());
    const shown = new Set(refused);
    const taken = entries.filter(
      ({ name }) => !shown.has(name.replace(/\p{Cf}/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)),
    );
    expectTreeMinusReport(taken, { ...result, refused: [] });
    expect(existsSync(project.at('canary'))).toBe(false);
  });

  it('of 10 000 files is committed whole', async () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => ({ name: `d${n % 100}/f${n}`, content: `${n % 2_000}` }));
    const result = await project.commit(entries);
    expect(result).toMatchObject({ held: [], refused: [] });
    expect(project.paths()).toHaveLength(10_000);
    expect(project.git('show', 'HEAD:d99/f9999')).toBe('1999');
  });

  it('with a file of 2 GiB is committed without it, and the file is reported', async () => {
    const archive = pack();
    const piece = Buffer.alloc(4 * 1024 * 1024);
    const fill = async (): Promise<void> => {
      archive.entry({ name: 'before.txt' }, 'before');
      const large = archive.entry({ name: 'disk.img', size: 2 * GIB });
      for (let written = 0; written < 2 * GIB; written += piece.length) {
        if (!large.write(piece)) await once(large, 'drain');
      }
      large.end(null);
      archive.entry({ name: 'after.txt' }, 'after');
      archive.finalize();
    };
    const filled = fill();
    const result = await project.commitTar(Readable.from(archive as AsyncIterable<Buffer>));
    await filled;
    expect(result).toMatchObject({
      kept: ['before.txt', 'after.txt'],
      held: [{ path: 'disk.img', rule: 'large-file', why: expect.stringContaining(String(2 * GIB)) }],
      refused: [],
    });
    expect(project.paths()).toEqual(['after.txt', 'before.txt']);
  });

  it('of more bytes than are read is refused as a whole', async () => {
    const entries = [1, 2, 3].map((n) => ({ name: `f${n}`, content: 'x'.repeat(2_000) }));
    await expect(project.commit(entries, {}, { fileBytes: 1_000, archiveBytes: 4_000 })).rejects.toMatchObject({
      code: 'TREE_TOO_LARGE',
    });
    expect((await project.repository.head()).commit).toBeNull();
  });

  it('of many hard links to one file is committed as so many files of one content', async () => {
    const content = 'x'.repeat(500_000);
    const links = Array.from({ length: 2_000 }, (_, n) => ({ name: `l${n}`, type: 'link' as const, linkname: 'file' }));
    const result = await project.commit([{ name: 'file', content }, ...links]);
    expect(result.kept).toHaveLength(2_001);
    expect(project.git('rev-parse', 'HEAD:l1999')).toBe(project.git('rev-parse', 'HEAD:file'));
  });
});
