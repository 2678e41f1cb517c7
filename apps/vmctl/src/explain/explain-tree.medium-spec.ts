import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@inquest/process';
import { tempDir, type TempDir } from '@inquest/testing';
import { explainTree } from './explain-tree';

const { signal } = new AbortController();

describe('explainTree', () => {
  let tree: TempDir;

  beforeEach(async () => {
    tree = await tempDir('tree');
    await git('init', '-q');
  });
  afterEach(() => tree.remove());

  const git = (...args: readonly string[]) =>
    runCommand('git', ['-C', tree.path, '-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args]);
  const write = async (name: string, content: string): Promise<void> => {
    await mkdir(path.dirname(path.join(tree.path, name)), { recursive: true });
    await writeFile(path.join(tree.path, name), content);
  };
  const explain = async () => {
    const { kept, held } = await explainTree(tree.path, signal);
    return { kept, held: held.map(({ path: name, rule }) => `${name} ${rule}`) };
  };

  it('says what a first commit would keep and hold back, by which rule', async () => {
    await write('README.md', '# it');
    await write('src/main.py', 'print(1)');
    await write('test_it.py', 'print(2)');
    await write('.env', 'KEY=1');
    expect(await explain()).toEqual({
      kept: ['README.md', 'src/main.py'],
      held: ['.env secret/environment-file', 'test_it.py throwaway/script'],
    });
  });

  it('never holds back what the last commit has', async () => {
    await write('test_it.py', 'print(2)');
    await git('add', '-A');
    await git('commit', '-q', '-m', 'x');
    expect(await explain()).toEqual({ kept: ['test_it.py'], held: [] });
  });

  it('goes by the project’s own rules as they were committed, not as they lie there', async () => {
    await write('.inquest/scratch.yaml', 'hold: ["*.tmp.md"]');
    await git('add', '-A');
    await git('commit', '-q', '-m', 'x');
    await write('.inquest/scratch.yaml', 'keep: ["**"]');
    await write('plan.tmp.md', 'x');
    expect((await explain()).held).toEqual(['plan.tmp.md project/hold']);
  });

  it('looks at the content of new files', async () => {
    await write('settings.txt', `-----BEGIN OPENSSH ${'PRIVATE KEY'}-----\n${'b3BlbnNzaC1rZXktdjE'.repeat(8)}\n`);
    expect((await explain()).held).toEqual([expect.stringMatching(/^settings\.txt secret\//)]);
  });

  it('follows no link out of the tree', async () => {
    await symlink('/etc', path.join(tree.path, 'etc'));
    expect(await explain()).toEqual({ kept: ['etc'], held: [] });
  });

  it('refuses a directory that is not there', async () => {
    await expect(explainTree(path.join(tree.path, 'missing'), signal)).rejects.toMatchObject({
      code: 'CLI_FILE_UNREADABLE',
    });
  });

  it.each([
    ['are not valid', 'hide: ["x"]', 'SCRATCH_RULES_INVALID', /unknown key "hide"/],
    ['are no YAML', 'keep: ["a', 'SCRATCH_RULES_INVALID', /is not valid: /],
    ['have aliases', 'keep: &a ["x"]\nhold: *a\n', 'SCRATCH_RULES_INVALID', /has aliases/],
    ['are too large', `# ${'x'.repeat(65_536)}\n`, 'SCRATCH_RULES_TOO_LARGE', /65539 bytes, and at most 65536/],
  ])(
    'goes by the default rules when those of the project %s, as a commit does, and says so',
    async (_, text, code, message) => {
      await write('.inquest/scratch.yaml', text);
      await git('add', '-A');
      await git('commit', '-q', '-m', 'x');
      await write('x.log', 'x');
      const { held, rulesProblem } = await explainTree(tree.path, signal);
      expect(held).toMatchObject([{ path: 'x.log', rule: 'dropping/log' }]);
      expect(rulesProblem).toMatchObject({ code, message: expect.stringMatching(message) });
    },
  );
});
