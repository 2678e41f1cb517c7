import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeGitForge } from '@inquest/git-forge/testing';
import { HardenedGit } from '@inquest/work-tree';
import { BareGitForge } from './bare-git-forge';

const never = new AbortController().signal;

const git = (gitDirectory: string, ...args: string[]): string =>
  execFileSync('git', [`--git-dir=${gitDirectory}`, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

const headOf = (gitDirectory: string, branch: string): string | null =>
  existsSync(gitDirectory)
    ? git(gitDirectory, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`) || null
    : null;

/** An empty forge beside a project with a short history. */
async function fixture() {
  const root = await mkdtemp(path.join(tmpdir(), 'bare-forge-'));
  const repositoryPath = path.join(root, 'project.git');
  await HardenedGit.init(repositoryPath, never);
  const tree = git(repositoryPath, 'hash-object', '-t', 'tree', '-w', '/dev/null');
  const commit = (message: string, ...parents: string[]): string => {
    const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.org'];
    return git(repositoryPath, ...identity, 'commit-tree', tree, '-m', message, ...parents.flatMap((id) => ['-p', id]));
  };
  const first = commit('first');
  const commits = { first, second: commit('second', first), unrelated: commit('unrelated') };
  const forgeRoot = path.join(root, 'forge');
  const bareOf = (project: string): string => path.join(forgeRoot, `${project}.git`);
  const close = (): Promise<void> => rm(root, { recursive: true, force: true });
  return { root, forgeRoot, forge: new BareGitForge(forgeRoot), repositoryPath, commits, bareOf, close };
}

describeGitForge('BareGitForge', async () => {
  const made = await fixture();
  return { ...made, headOf: (project, branch) => Promise.resolve(headOf(made.bareOf(project), branch)) };
});

describe('BareGitForge', () => {
  let made: Awaited<ReturnType<typeof fixture>>;
  beforeEach(async () => {
    made = await fixture();
  });
  afterEach(() => made.close());
  const push = (commit: string) =>
    made.forge.push({ repositoryPath: made.repositoryPath, commit, branch: 'main', project: 'demo' }, never);

  it('makes what git can clone from the URL that it gives', async () => {
    const { url } = await made.forge.ensureRepository('demo', never);
    await push(made.commits.second);
    const clone = path.join(made.root, 'clone');
    execFileSync('git', ['clone', '--quiet', url, clone], { stdio: 'ignore' });
    expect(git(path.join(clone, '.git'), 'rev-parse', 'HEAD')).toBe(made.commits.second);
  });

  it('does not push over commits that somebody else pushed', async () => {
    await made.forge.ensureRepository('demo', never);
    await push(made.commits.first);
    const bare = made.bareOf('demo');
    const identity = ['-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'];
    const theirs = git(bare, ...identity, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'theirs');
    git(bare, 'update-ref', 'refs/heads/main', theirs);
    await expect(push(made.commits.second)).rejects.toMatchObject({
      code: 'FORGE_BRANCH_MOVED',
      details: { found: theirs },
    });
    expect(headOf(bare, 'main')).toBe(theirs);
  });

  it('runs no hook of the project repository', async () => {
    const canary = path.join(made.root, 'canary');
    await mkdir(path.join(made.repositoryPath, 'hooks'));
    for (const hook of ['pre-push', 'reference-transaction', 'post-update']) {
      const file = path.join(made.repositoryPath, 'hooks', hook);
      await writeFile(file, `#!/bin/sh\ntouch ${canary}\n`);
      await chmod(file, 0o755);
    }
    await made.forge.ensureRepository('demo', never);
    await push(made.commits.second);
    expect(existsSync(canary)).toBe(false);
  });

  it('says why when a hook of the forge refuses the push', async () => {
    await made.forge.ensureRepository('demo', never);
    const hook = path.join(made.bareOf('demo'), 'hooks', 'pre-receive');
    await mkdir(path.dirname(hook), { recursive: true });
    await writeFile(hook, '#!/bin/sh\necho "the quota is used up" >&2\nexit 1\n');
    await chmod(hook, 0o755);
    await expect(push(made.commits.first)).rejects.toMatchObject({
      code: 'FORGE_PUSH_FAILED',
      message: expect.stringContaining('the quota is used up'),
    });
    expect(headOf(made.bareOf('demo'), 'main')).toBeNull();
  });

  it('leaves alone what is in the place of a repository', async () => {
    await mkdir(path.join(made.bareOf('demo'), 'work'), { recursive: true });
    await writeFile(`${made.forgeRoot}/other.git`, 'a file');
    for (const project of ['demo', 'other']) {
      await expect(made.forge.ensureRepository(project, never)).rejects.toMatchObject({
        code: 'FORGE_REPOSITORY_UNUSABLE',
      });
    }
    expect((await readdir(made.forgeRoot)).sort()).toEqual(['demo.git', 'other.git']);
    expect(await readdir(made.bareOf('demo'))).toEqual(['work']);
  });

  it('says what is wrong when its directory cannot be used', async () => {
    await writeFile(path.join(made.root, 'file'), '');
    const forge = new BareGitForge(path.join(made.root, 'file', 'forge'));
    await expect(forge.check(never)).rejects.toMatchObject({
      code: 'FORGE_UNAVAILABLE',
      message: expect.stringContaining('ENOTDIR'),
    });
  });

  it('removes what a crash left of a repository in the making', async () => {
    await made.forge.ensureRepository('demo', never);
    await mkdir(path.join(made.forgeRoot, '.new-abc'));
    expect(await made.forge.removeLeftovers()).toBe(1);
    expect(await readdir(made.forgeRoot)).toEqual(['demo.git']);
  });
});
