import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ProjectRepository } from './project-repository';
import type { ScratchFilter } from './scratch-filter';
import { ANA, INQUEST, ProjectFixture } from './testing/project-fixture';
import { readTar } from './testing/tar-archive';

describe('ProjectRepository', () => {
  let project: ProjectFixture;
  beforeEach(async () => {
    project = await ProjectFixture.make();
  });
  afterEach(() => project.close());

  it('commits a tree with its modes and links, by the person it is for', async () => {
    const result = await project.commit([
      { name: 'README.md', content: 'hello\n' },
      { name: 'bin/', type: 'directory' },
      { name: 'bin/tool', content: '#!/bin/sh\n', mode: 0o755 },
      { name: 'link', type: 'symlink', linkname: 'bin/tool' },
    ]);
    expect(result).toMatchObject({
      branch: 'main',
      kept: ['README.md', 'bin/tool', 'link'],
      deleted: [],
      held: [],
      refused: [],
    });
    expect(
      project
        .git('ls-tree', '-r', 'HEAD')
        .split('\n')
        .map((line) => line.replace(/ blob [0-9a-f]+/, '')),
    ).toEqual(['100644\tREADME.md', '100755\tbin/tool', '120000\tlink']);
    expect(project.git('log', '-1', '--format=%H|%an|%ae|%at|%cn|%B')).toBe(
      `${result.commit}|Ana|ana@example.org|1767607200|Inquest|work\n`.trimEnd(),
    );
    expect(project.git('fsck', '--strict')).toBe('');
  });

  it('carries deletions, renames, changed contents, changed modes and kinds, and nothing else', async () => {
    await project.commit(
      ['same', 'gone', 'old-name', 'text', 'script', 'thing'].map((name) => ({ name, content: name })),
    );
    const before = project.git('rev-parse', 'HEAD:same');
    const result = await project.commit([
      { name: 'same', content: 'same' },
      { name: 'new-name', content: 'old-name' },
      { name: 'text', content: 'changed' },
      { name: 'script', content: 'script', mode: 0o755 },
      { name: 'thing/inside', content: 'a directory now' },
    ]);
    expect([...result.kept].sort()).toEqual(['new-name', 'script', 'text', 'thing/inside']);
    expect([...result.deleted].sort()).toEqual(['gone', 'old-name', 'thing']);
    expect(project.git('diff', '--name-status', '-M', 'HEAD~1', 'HEAD').split('\n').sort()).toEqual([
      'A\tthing/inside',
      'D\tgone',
      'D\tthing',
      'M\tscript',
      'M\ttext',
      'R100\told-name\tnew-name',
    ]);
    expect(project.git('rev-parse', 'HEAD:same')).toBe(before);
  });

  it('makes no commit when nothing changed, and says so', async () => {
    const entries = [{ name: 'a', content: 'a' }];
    const first = await project.commit(entries);
    const second = await project.commit(entries);
    expect(second).toMatchObject({ commit: null, kept: [], deleted: [] });
    expect((await project.repository.head()).commit).toBe(first.commit);
  });

  it('makes no commit of an empty tree in an empty project', async () => {
    expect(await project.commit([])).toMatchObject({ commit: null, base: null });
    expect(await project.repository.head()).toEqual({ branch: 'main', commit: null, committedAtMs: null });
  });

  it('gives back exactly what it took', async () => {
    const binary = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    await project.commit([
      { name: 'binary', content: binary },
      { name: 'crlf.txt', content: 'a\r\nb\r\n' },
      { name: '.gitattributes', content: '* text eol=crlf export-subst\nsecret export-ignore\n' },
      { name: 'secret', content: '$Format:%H$' },
      { name: 'empty', content: '' },
      { name: 'dir/ünï 漢字', content: 'x', mode: 0o755 },
      { name: 'etc', type: 'symlink', linkname: '/etc/passwd' },
    ]);
    const { archive, base: exported } = await project.repository.exportTree();
    const found = await readTar(archive);
    expect(exported).toBe((await project.repository.head()).commit);
    expect(found.get('binary')).toMatchObject({ content: binary, mode: 0o644 });
    expect(found.get('crlf.txt')?.content.toString()).toBe('a\r\nb\r\n');
    expect(found.get('secret')?.content.toString()).toBe('$Format:%H$');
    expect(found.get('dir/ünï 漢字')).toMatchObject({ mode: 0o755 });
    expect(found.get('etc')).toMatchObject({ type: 'symlink', linkname: '/etc/passwd' });
    expect([...found.keys()].sort()).toEqual(project.paths().sort());
    const again = await project.repository.exportTree();
    expect(await project.commitTar(again.archive)).toMatchObject({ commit: null });
  });

  it('exports an empty project as an empty archive', async () => {
    const { archive, base: exported } = await project.repository.exportTree();
    expect(exported).toBeNull();
    expect((await readTar(archive)).size).toBe(0);
  });

  it('stops an export that is cancelled', async () => {
    await project.commit([{ name: 'a', content: 'a' }]);
    const controller = new AbortController();
    const { archive } = await project.repository.exportTree(controller.signal);
    controller.abort();
    await expect(buffer(archive)).rejects.toThrow();
  });

  describe('what the tree or the host could make git run', () => {
    it('runs nothing: no hook, filter, attribute, monitor, signing or editor', async () => {
      const canary = project.at('canary');
      const trap = project.at('trap.sh');
      await writeFile(trap, `#!/bin/sh\ntouch ${canary}\n`);
      await chmod(trap, 0o755);
      for (const hook of [
        'pre-commit',
        'commit-msg',
        'post-commit',
        'reference-transaction',
        'post-index-change',
        'prepare-commit-msg',
      ]) {
        await mkdir(project.at('project.git', 'hooks'), { recursive: true });
        await symlink(trap, project.at('project.git', 'hooks', hook));
      }
      project.git('config', 'core.fsmonitor', trap);
      project.git('config', 'filter.evil.clean', trap);
      project.git('config', 'filter.evil.smudge', trap);
      project.git('config', 'filter.evil.process', trap);
      project.git('config', 'diff.evil.textconv', trap);
      project.git('config', 'diff.external', trap);
      project.git('config', 'commit.gpgSign', 'true');
      project.git('config', 'gpg.program', trap);
      project.git('config', 'core.pager', trap);
      project.git('config', 'core.editor', trap);
      project.git('config', 'core.autocrlf', 'true');
      await mkdir(project.at('project.git', 'info'), { recursive: true });
      await writeFile(project.at('project.git', 'info', 'attributes'), '* filter=evil diff=evil text\n');
      const attributes = { name: '.gitattributes', content: '* filter=evil diff=evil text eol=crlf ident\n' };
      await project.commit([attributes, { name: 'a', content: 'one\r\n$Id$\n' }]);
      await project.commit([attributes, { name: 'a', content: 'two\r\n$Id$\n' }]);
      await readTar((await project.repository.exportTree()).archive);
      expect(existsSync(canary)).toBe(false);
      const stored = execFileSync('git', [`--git-dir=${project.repository.path}`, 'cat-file', 'blob', 'HEAD:a'], {
        encoding: 'utf8',
      });
      expect(stored).toBe('two\r\n$Id$\n');
    });
  });

  describe('the scratch filter', () => {
    it('sees the whole tree first, then is told what it needs, and what it holds is not committed', async () => {
      await project.commit([{ name: 'tracked', content: 'old' }]);
      const seen: unknown[] = [];
      const hold = { rule: 'throw-away-test', why: 'a test script at the root' };
      const filter: ScratchFilter = (entries) => {
        seen.push(entries.map(({ path }) => path));
        return (candidate) => {
          seen.push(candidate);
          return candidate.path === 'scratch.py' ? hold : null;
        };
      };
      const result = await project.commit(
        [
          { name: 'tracked', content: 'changed' },
          { name: 'new', content: 'n'.repeat(100_000) },
          { name: 'scratch.py', content: 'assert True' },
          { name: 'link', type: 'symlink', linkname: 'new' },
        ],
        { filter },
      );
      expect(seen).toEqual([
        ['tracked', 'new', 'scratch.py', 'link'],
        { path: 'tracked', kind: 'file', sizeBytes: 7, isTracked: true },
        { path: 'new', kind: 'file', sizeBytes: 100_000, isTracked: false, firstBytes: Buffer.alloc(65_536, 'n') },
        { path: 'scratch.py', kind: 'file', sizeBytes: 11, isTracked: false, firstBytes: Buffer.from('assert True') },
        { path: 'link', kind: 'link', sizeBytes: 3, isTracked: false },
      ]);
      expect(result).toMatchObject({ kept: ['tracked', 'new', 'link'], held: [{ path: 'scratch.py', ...hold }] });
      expect(project.paths()).toEqual(['link', 'new', 'tracked']);
    });

    it('never deletes a tracked file by holding it', async () => {
      await project.commit([{ name: 'tracked', content: 'old' }]);
      const filter: ScratchFilter = () => () => ({ rule: 'x', why: 'y' });
      expect(await project.commit([{ name: 'tracked', content: 'new' }], { filter })).toMatchObject({ commit: null });
      expect(project.git('show', 'HEAD:tracked')).toBe('old');
    });
  });

  it('makes no second commit of what the branch has already, and gives the one it is at', async () => {
    const start = await project.commit([{ name: 'gone', content: '1' }]);
    const entries = [{ name: 'a', content: 'a' }];
    const first = await project.commit(entries, { base: start.base });
    const again = await project.commit(entries, { base: start.base });
    expect(again).toEqual(first);
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('2');
  });

  it('puts the first commit of an empty project on an empty one when there is to be a beginning', async () => {
    expect(await project.commit([], { beginning: 'Begin' })).toMatchObject({ commit: null });
    expect((await project.repository.head()).commit).toBeNull();
    const first = await project.commit([{ name: 'a', content: 'a' }], { beginning: 'Begin' });
    expect(project.git('log', '--format=%s|%an|%cn')).toBe('work|Ana|Inquest\nBegin|Inquest|Inquest');
    expect(project.git('ls-tree', 'HEAD^')).toBe('');
    expect(await project.repository.parentOf(first.commit ?? '')).toBe(project.git('rev-parse', 'HEAD^'));
    expect(await project.repository.parentOf(project.git('rev-parse', 'HEAD^'))).toBeNull();
    await project.commit([{ name: 'a', content: 'b' }], { beginning: 'Begin' });
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('3');
    for (const unknown of ['0'.repeat(40), 'HEAD', '--all']) {
      expect(await project.repository.parentOf(unknown)).toBeNull();
    }
  });

  it('reads a file of the last commit, and nothing that is no file, is missing or is too large', async () => {
    expect(await project.repository.readFile('a', 100)).toBeNull();
    await project.commit([
      { name: 'dir/a', content: 'first\r\n' },
      { name: 'tool', content: '#!/bin/sh\n', mode: 0o755 },
      { name: 'link', type: 'symlink', linkname: 'dir/a' },
      { name: ':(glob)*', content: 'no pathspec' },
    ]);
    const read = async (name: string, maxBytes = 100) => {
      const file = await project.repository.readFile(name, maxBytes);
      return file?.kind === 'content' ? file.bytes.toString() : (file?.kind ?? null);
    };
    expect(await read('dir/a')).toBe('first\r\n');
    expect(await read('tool')).toBe('#!/bin/sh\n');
    expect(await read(':(glob)*')).toBe('no pathspec');
    expect(await read('dir/a', 7)).toBe('first\r\n');
    for (const name of ['dir', 'missing', '', '../a', '*', 'HEAD:dir/a', '--all']) expect(await read(name)).toBeNull();
    expect(await read('link')).toBe('no-regular-file');
    expect(await project.repository.readFile('dir/a', 6)).toEqual({ kind: 'too-large', sizeBytes: 7 });
    await project.commit([{ name: 'dir/a', content: 'second' }]);
    expect(await read('dir/a')).toBe('second');
  });

  it('copies files of any commit out as they are, into new files only', async () => {
    const binary = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const first = await project.commit([
      { name: 'dist/app', content: binary, mode: 0o755 },
      { name: '.gitattributes', content: '* text eol=crlf\n' },
      { name: 'link', type: 'symlink', linkname: '/etc/passwd' },
    ]);
    await project.commit([{ name: 'other', content: 'x' }]);
    const { repository } = project;
    const names = ['dist/app', 'link', 'dist', 'other', '../other', '*'];
    const [app, ...none] = await repository.findFiles(first.commit ?? '', names);
    expect(app).toMatchObject({ path: 'dist/app', sizeBytes: 300_000 });
    expect(none).toEqual([null, null, null, null, null]);
    if (app == null) throw new Error('the commit has no dist/app');
    const copy = project.at('copy');
    await repository.copyFile(app, copy);
    expect((await readFile(copy)).equals(binary)).toBe(true);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    await writeFile(copy, 'mine');
    await expect(repository.copyFile(app, copy)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(copy, 'utf8')).toBe('mine');
    await expect(repository.findFiles('HEAD', ['other'])).rejects.toMatchObject({ code: 'COMMIT_BASE_UNKNOWN' });
  });

  it('knows which commit stands on which', async () => {
    const first = (await project.commit([{ name: 'a', content: '1' }])).commit ?? '';
    const second = (await project.commit([{ name: 'a', content: '2' }])).commit ?? '';
    const { repository } = project;
    expect(await repository.standsOn(second, first)).toBe(true);
    expect(await repository.standsOn(second, second)).toBe(true);
    expect(await repository.standsOn(first, second)).toBe(false);
    for (const unknown of ['0'.repeat(40), 'HEAD', '--all'])
      expect(await repository.standsOn(second, unknown)).toBe(false);
  });

  it('leaves submodules, and names that are no UTF-8, as they are', async () => {
    const input = Buffer.concat([
      Buffer.from(`160000 ${'1'.repeat(40)}\tsub\0`),
      Buffer.from(`100644 ${project.git('hash-object', '-w', '-t', 'blob', '/dev/null')}\t`),
      Buffer.from([0x66, 0xff, 0x00]),
    ]);
    const env = { ...process.env, GIT_INDEX_FILE: project.at('index') };
    execFileSync('git', [`--git-dir=${project.repository.path}`, 'update-index', '-z', '--index-info'], { input, env });
    const tree = execFileSync('git', [`--git-dir=${project.repository.path}`, 'write-tree'], {
      env,
      encoding: 'utf8',
    }).trim();
    const first = project.git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit-tree', '-m', 'start', tree);
    project.git('update-ref', 'refs/heads/main', first);
    const { archive, base: exported } = await project.repository.exportTree();
    expect((await readTar(archive)).size).toBe(0);
    const result = await project.commit(
      [
        { name: 'a', content: 'a' },
        { name: 'sub/evil', content: 'evil' },
      ],
      { base: exported },
    );
    expect(result).toMatchObject({ kept: ['a'], deleted: [], refused: [{ path: 'sub/evil', rule: 'submodule' }] });
    expect(project.git('diff', '--name-status', first, 'HEAD')).toBe('A\ta');
  });

  it('commits 2000 files and then only what changed', async () => {
    const entries = Array.from({ length: 2000 }, (_, n) => ({ name: `d${n % 40}/f${n}`, content: `content ${n}` }));
    expect((await project.commit(entries)).kept).toHaveLength(2000);
    expect(project.paths()).toHaveLength(2000);
    const changed = entries.map((entry, n) => (n === 7 ? { ...entry, content: 'changed' } : entry));
    expect(await project.commit(changed)).toMatchObject({ kept: ['d7/f7'], deleted: [] });
  });

  it.each([
    ['an empty message', { message: ' \n' }],
    ['a message with NUL', { message: 'a\0b' }],
    ['a long message', { message: 'x'.repeat(65 * 1024) }],
    ['a name that would end early', { author: { ...ANA, name: 'Ana <evil>' } }],
    ['a name on two lines', { author: { ...ANA, name: 'Ana\ncommitter x' } }],
    ['an empty address', { committer: { ...INQUEST, email: '' } }],
    ['a time before time', { author: { ...ANA, atMs: -1 } }],
  ])('refuses %s', async (_, more) => {
    await expect(project.commit([{ name: 'a', content: 'a' }], more)).rejects.toMatchObject({
      code: 'COMMIT_INPUT_INVALID',
    });
    expect((await project.repository.head()).commit).toBeNull();
  });

  it.each(['HEAD', 'f'.repeat(40), '--all', '', 'main'])('does not take %j for a base', async (wrong) => {
    await project.commit([{ name: 'a', content: 'a' }]);
    await expect(project.commit([{ name: 'a', content: 'b' }], { base: wrong })).rejects.toMatchObject({
      code: 'COMMIT_BASE_UNKNOWN',
    });
  });

  it('opens only what is a repository', async () => {
    await expect(ProjectRepository.open(project.at('nowhere'))).rejects.toMatchObject({ code: 'REPOSITORY_MISSING' });
    await project.commit([{ name: 'a', content: 'a' }]);
    const again = await ProjectRepository.init(project.repository.path);
    expect(await again.head()).toEqual(await (await ProjectRepository.open(project.repository.path)).head());
  });
});
