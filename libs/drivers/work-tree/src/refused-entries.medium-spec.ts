import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ProjectFixture } from './testing/project-fixture';
import { tarOf } from './testing/tar-archive';

describe('ProjectRepository.collect', () => {
  let project: ProjectFixture;
  beforeEach(async () => {
    project = await ProjectFixture.make();
  });
  afterEach(() => project.close());

  it('takes what is safe, and says of the rest why not', async () => {
    const result = await project.commit([
      { name: 'good', content: 'good' },
      { name: '/etc/cron.d/evil', content: 'evil' },
      { name: '../outside', content: 'evil' },
      { name: 'a/../../outside', content: 'evil' },
      { name: '.git/hooks/post-commit', content: 'evil', mode: 0o755 },
      { name: 'nested/.GIT/config', content: 'evil' },
      { name: 'nested/git~1/config', content: 'evil' },
      { name: 'nested/.g\u200cit/config', content: 'evil' },
      { name: '.gitmodules', content: 'evil' },
      { name: 'device', type: 'character-device', devmajor: 1, devminor: 3 },
      { name: 'disk', type: 'block-device' },
      { name: 'pipe', type: 'fifo' },
      { name: 'hard', type: 'link', linkname: '/etc/shadow' },
      { name: 'hard2', type: 'link', linkname: '../../etc/shadow' },
      { name: 'good', content: 'again' },
      { name: 'good/below', content: 'evil' },
    ]);
    expect(result.kept).toEqual(['good']);
    expect(project.paths()).toEqual(['good']);
    expect(project.git('show', 'HEAD:good')).toBe('good');
    expect(result.refused).toHaveLength(15);
    expect(result.refused).toContainEqual({
      path: '.git/hooks/post-commit',
      rule: 'unsafe-path',
      why: expect.stringContaining('.git'),
    });
    expect(result.refused).toContainEqual({
      path: 'device',
      rule: 'unsafe-kind',
      why: expect.stringContaining('character-device'),
    });
    expect(result.refused).toContainEqual({
      path: 'hard',
      rule: 'unsafe-kind',
      why: expect.stringContaining('outside'),
    });
    expect(existsSync(project.at('outside'))).toBe(false);
  });

  it('never writes through a link, whatever comes after it', async () => {
    await mkdir(project.at('victim'));
    const result = await project.commit([
      { name: 'way', type: 'symlink', linkname: project.at('victim') },
      { name: 'way/planted', content: 'evil' },
      { name: 'file', type: 'symlink', linkname: project.at('victim', 'file') },
      { name: 'file', content: 'evil' },
    ]);
    expect(await readdir(project.at('victim'))).toEqual([]);
    expect(result.kept).toEqual(['way', 'file']);
    expect(result.refused.map((one) => one.path)).toEqual(['way/planted', 'file']);
    expect(project.git('show', 'HEAD:way')).toBe(project.at('victim'));
  });

  it('deletes nothing that it refused, also when the name must be escaped to be shown', async () => {
    const name = 'odd\nname';
    await project.commit([{ name, content: 'good' }]);
    const result = await project.commit([{ name, type: 'link', linkname: '/etc/shadow' }]);
    expect(result).toMatchObject({
      commit: null,
      deleted: [],
      refused: [{ path: 'odd\\u{a}name', rule: 'unsafe-kind' }],
    });
    expect(project.paths()).toEqual([name]);
  });

  it('makes a hard link inside of the tree a file of its own', async () => {
    const result = await project.commit([
      { name: 'a', content: 'shared', mode: 0o755 },
      { name: 'b', type: 'link', linkname: './a' },
    ]);
    expect(result.kept).toEqual(['a', 'b']);
    expect(project.git('show', 'HEAD:b')).toBe('shared');
  });

  it('refuses names that are no UTF-8 and takes names with newlines, quotes and leading dashes', async () => {
    await mkdir(project.at('tree'));
    const odd = ['new\nline', '-rf', '"quoted"', "it's", 'tab\there', '--index-info', 'ü', '漢'];
    for (const name of odd) await writeFile(project.at('tree', name), name);
    await writeFile(Buffer.concat([Buffer.from(`${project.at('tree')}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'x');
    const tar = execFileSync('tar', ['-C', project.at('tree'), '-cf', '-', '.']);
    const result = await project.commitTar(Readable.from([tar]));
    expect(project.paths().sort()).toEqual([...odd].sort());
    expect(result.refused).toEqual([
      { path: expect.stringMatching(/^f/), rule: 'unsafe-path', why: expect.stringContaining('UTF-8') },
    ]);
  });

  it('holds large files back, and leaves a tracked one as it was', async () => {
    await project.commit([{ name: 'data', content: 'small' }]);
    const large = 'x'.repeat(2000);
    const entries = [
      { name: 'data', content: large },
      { name: 'video', content: large },
      { name: 'note', content: 'n' },
    ];
    const result = await project.commit(entries, {}, { fileBytes: 1000 });
    expect(result).toMatchObject({ kept: ['note'], deleted: [] });
    expect(result.held.map(({ path: name, rule }) => [name, rule])).toEqual([
      ['data', 'large-file'],
      ['video', 'large-file'],
    ]);
    expect(project.git('show', 'HEAD:data')).toBe('small');
  });

  it.each([
    ['entries', [1, 2, 3, 4].map((n) => ({ name: `f${n}`, content: 'x' })), { entries: 3 }],
    [
      'bytes',
      [
        { name: 'a', content: 'x'.repeat(600) },
        { name: 'b', content: 'x'.repeat(600) },
      ],
      { totalBytes: 1000 },
    ],
  ])('refuses a tree of too many %s as a whole and leaves nothing', async (_, entries, limits) => {
    await expect(project.commit(entries, {}, limits)).rejects.toMatchObject({ code: 'TREE_TOO_LARGE', fault: 'guest' });
    expect((await project.repository.head()).commit).toBeNull();
  });

  it('takes no cut archive for a tree from which files were deleted', async () => {
    const entries = [1, 2, 3].map((n) => ({ name: `f${n}`, content: 'x'.repeat(700) }));
    await project.commit(entries);
    const whole = await buffer(tarOf(entries));
    for (const length of [0, 100, 512, 1000, 1536, 3072, whole.length - 1024, whole.length - 512]) {
      const cut = Readable.from([whole.subarray(0, length)]);
      await expect(project.commitTar(cut)).rejects.toMatchObject({ code: 'TREE_ARCHIVE_INVALID' });
    }
    expect(project.paths()).toEqual(['f1', 'f2', 'f3']);
  });

  it.each([
    ['a sentence', 'not a tar archive at all'],
    ['a long text', 'x'.repeat(5000)],
    ['zeros and then text', '\0'.repeat(200) + 'x'.repeat(2000)],
    ['a text that ends like an archive', 'x'.repeat(512) + '\0'.repeat(1024)],
  ])('takes %s for no archive', async (_, text) => {
    const collecting = project.commitTar(Readable.from([Buffer.from(text)]));
    await expect(collecting).rejects.toMatchObject({ code: 'TREE_ARCHIVE_INVALID' });
  });

  it('leaves nothing of a collection that is cancelled or fails', async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('inquest-tree-'));
    const controller = new AbortController();
    const endless = Readable.from(
      (async function* () {
        yield (await buffer(tarOf([{ name: 'a', content: 'x'.repeat(9000) }]))).subarray(0, 2048);
        controller.abort();
        await new Promise(() => undefined);
      })(),
    );
    await expect(project.repository.collect(endless, {}, controller.signal)).rejects.toMatchObject({
      code: 'OPERATION_ABORTED',
    });
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith('inquest-tree-'));
    expect(after).toEqual(before);
  });
});
