import { newId } from '@inquest/kernel';
import type { GitForge, PushRequest } from '../git-forge';

/** A forge without repositories, and a project repository to publish from. */
export interface GitForgeUnderTest {
  readonly forge: GitForge;
  readonly repositoryPath: string;
  /** The first commit, one that stands on it, and one that shares no history with them. */
  readonly commits: { readonly first: string; readonly second: string; readonly unrelated: string };
  /** The head of a branch as the forge itself knows it, not as its driver says. */
  headOf(project: string, branch: string): Promise<string | null>;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const BRANCH = 'inquest/s-1';

/** What every `GitForge` must do, real or fake. */
export function describeGitForge(name: string, make: () => Promise<GitForgeUnderTest>): void {
  describe(`${name} as a GitForge`, () => {
    let made: GitForgeUnderTest;
    let project: string;
    beforeEach(async () => {
      made = await make();
      project = newId('project');
    });
    afterEach(() => made.close());

    const request = (commit: string, more: Partial<PushRequest> = {}): PushRequest => ({
      repositoryPath: made.repositoryPath,
      commit,
      branch: BRANCH,
      project,
      ...more,
    });
    const push = (commit: string, more: Partial<PushRequest> = {}) => made.forge.push(request(commit, more), never);
    const head = () => made.headOf(project, BRANCH);

    it('finds itself usable', async () => {
      await expect(made.forge.check(never)).resolves.toBeUndefined();
    });

    it('makes a repository once, however often and at once it is asked', async () => {
      const urls = await Promise.all([1, 2, 3].map(() => made.forge.ensureRepository(project, never)));
      expect(new Set(urls.map(({ url }) => url)).size).toBe(1);
      await push(made.commits.first);
      await made.forge.ensureRepository(project, never);
      expect(await head()).toBe(made.commits.first);
    });

    it('publishes into an empty repository, and forward from there', async () => {
      const { first, second } = made.commits;
      await made.forge.ensureRepository(project, never);
      expect(await push(first)).toEqual({ branch: BRANCH, commit: first, verified: true });
      expect(await head()).toBe(first);
      await push(second);
      expect(await head()).toBe(second);
    });

    it('succeeds again when the branch is at the commit already', async () => {
      await made.forge.ensureRepository(project, never);
      await push(made.commits.second);
      expect(await push(made.commits.second)).toEqual({ branch: BRANCH, commit: made.commits.second, verified: true });
      expect(await head()).toBe(made.commits.second);
    });

    it('never forces a branch that has other commits', async () => {
      const { first, second, unrelated } = made.commits;
      await made.forge.ensureRepository(project, never);
      await push(second);
      for (const commit of [unrelated, first]) {
        await expect(push(commit)).rejects.toMatchObject({ code: 'FORGE_BRANCH_MOVED', details: { found: second } });
      }
      expect(await head()).toBe(second);
    });

    it('makes a branch that is not there, once, also when it is asked twice at once', async () => {
      const { first } = made.commits;
      await made.forge.ensureRepository(project, never);
      const ensured = await Promise.all([1, 2].map(() => made.forge.ensureBranch(request(first), never)));
      expect(ensured).toContainEqual({ isMade: true });
      expect(await head()).toBe(first);
      expect(await made.forge.ensureBranch(request(first), never)).toEqual({ isMade: false });
    });

    it('leaves a branch that is there alone, also where it could move it forward', async () => {
      const { first, second, unrelated } = made.commits;
      await made.forge.ensureRepository(project, never);
      await push(first);
      for (const commit of [second, unrelated]) {
        expect(await made.forge.ensureBranch(request(commit), never)).toEqual({ isMade: false });
      }
      expect(await head()).toBe(first);
    });

    it('makes no branch of what it does not have', async () => {
      const ensured = (more: Partial<PushRequest>) => made.forge.ensureBranch(request(made.commits.first, more), never);
      await expect(ensured({})).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_MISSING' });
      await made.forge.ensureRepository(project, never);
      await expect(ensured({ commit: '0'.repeat(40) })).rejects.toMatchObject({ code: 'FORGE_COMMIT_UNKNOWN' });
      await expect(ensured({ branch: '-f' })).rejects.toMatchObject({ code: 'FORGE_BRANCH_INVALID' });
      expect(await head()).toBeNull();
    });

    it('keeps branches apart', async () => {
      await made.forge.ensureRepository(project, never);
      await push(made.commits.second);
      await push(made.commits.unrelated, { branch: 'other' });
      expect(await head()).toBe(made.commits.second);
      expect(await made.headOf(project, 'other')).toBe(made.commits.unrelated);
    });

    it('does not publish into a repository that was never made', async () => {
      await expect(push(made.commits.first)).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_MISSING' });
      expect(await head()).toBeNull();
    });

    it.each(['0'.repeat(40), 'HEAD', 'main', '--all', '', 'abcdef1'])(
      'does not publish %j, which is no commit',
      async (commit) => {
        await made.forge.ensureRepository(project, never);
        await expect(push(commit)).rejects.toMatchObject({ code: 'FORGE_COMMIT_UNKNOWN' });
        expect(await head()).toBeNull();
      },
    );

    it.each([
      '',
      '-f',
      '../x',
      'a..b',
      'a//b',
      '/a',
      'a/',
      '.a',
      'a.lock',
      'a.lock/b',
      'a b',
      'a:b',
      '+a',
      'a\n',
      'é',
      'x'.repeat(201),
    ])('refuses the branch name %j', async (branch) => {
      await made.forge.ensureRepository(project, never);
      await expect(push(made.commits.first, { branch })).rejects.toMatchObject({ code: 'FORGE_BRANCH_INVALID' });
    });

    it.each(['../evil', 'a/b', '', '.', 'x'.repeat(65)])('refuses the project name %j', async (name) => {
      await expect(made.forge.ensureRepository(name, never)).rejects.toMatchObject({ code: 'ID_INVALID' });
      await expect(push(made.commits.first, { project: name })).rejects.toMatchObject({ code: 'ID_INVALID' });
    });

    it('does nothing once it is cancelled', async () => {
      await made.forge.ensureRepository(project, never);
      const cancelled = made.forge.push(request(made.commits.first), AbortSignal.abort());
      await expect(cancelled).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
      expect(await head()).toBeNull();
    });
  });
}
