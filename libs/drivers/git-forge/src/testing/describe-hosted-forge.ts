import { newId } from '@inquest/kernel';
import {
  capabilitiesOf,
  FORGE_CAPABILITIES,
  type PullRequestForge,
  type ReleaseArtifact,
  type ReleaseForge,
  type ReleaseRequest,
  type TopicForge,
} from '../forge-capabilities';
import type { GitForge } from '../git-forge';
import type { GitForgeUnderTest } from './describe-git-forge';

/** What people see on the forge, as the forge itself knows it. */
export interface HostedForgeUnderTest extends GitForgeUnderTest {
  readonly forge: GitForge & PullRequestForge & ReleaseForge & TopicForge;
  /** A person merges or closes a pull request, and deletes its branch. */
  endPullRequest(
    project: string,
    number: number,
    end: 'merged' | 'closed',
    options?: { readonly keepsBranch: boolean },
  ): Promise<void>;
  /** Every pull request that was ever opened. */
  openPullRequests(project: string): Promise<readonly { readonly title: string; readonly body: string }[]>;
  /** The published releases, with the names and sizes of what they offer. */
  releases(project: string): Promise<readonly { readonly tag: string; readonly artifacts: readonly string[] }[]>;
  topics(project: string): Promise<readonly string[]>;
  /** A file on this host with this content. */
  artifact(name: string, content: string): Promise<ReleaseArtifact>;
}

const never = new AbortController().signal;

/** What every forge with pull requests, releases and topics must do, real or fake. */
export function describeHostedForge(name: string, make: () => Promise<HostedForgeUnderTest>): void {
  describe(`${name} as a forge that people work on`, () => {
    let made: HostedForgeUnderTest;
    let project: string;
    beforeEach(async () => {
      made = await make();
      project = newId('project');
      await made.forge.ensureRepository(project, never);
    });
    afterEach(() => made.close());

    const push = (branch: string, commit: string) =>
      made.forge.push({ repositoryPath: made.repositoryPath, project, branch, commit }, never);
    const pullRequest = (more: object = {}) =>
      made.forge.openPullRequest(
        {
          project,
          head: 'inquest/s-1',
          base: 'main',
          title: 'A change',
          body: 'What it does. (publication-1)',
          marker: 'publication-1',
          ...more,
        },
        never,
      );
    const release = (more: Partial<ReleaseRequest> = {}) => {
      const whole = { project, tag: 'v1.0', commit: made.commits.first, title: 'One', notes: 'First.', artifacts: [] };
      return made.forge.publishRelease({ ...whole, ...more }, never);
    };

    it('says what it can do', () => {
      expect(capabilitiesOf(made.forge)).toEqual(FORGE_CAPABILITIES);
    });

    it('opens one pull request between two branches and keeps it up to date', async () => {
      await push('main', made.commits.first);
      await push('inquest/s-1', made.commits.second);
      const first = await pullRequest();
      const second = await pullRequest({ title: 'A better change', body: 'What it does now. (publication-1)' });
      expect(second).toEqual(first);
      expect(await made.openPullRequests(project)).toEqual([
        { title: 'A better change', body: 'What it does now. (publication-1)' },
      ]);
    });

    it.each(['merged', 'closed'] as const)(
      'gives back a pull request that was %s, as it is and without its branch, and opens no second one',
      async (end) => {
        await push('main', made.commits.first);
        await push('inquest/s-1', made.commits.second);
        const opened = await pullRequest();
        await made.endPullRequest(project, opened.number, end);
        expect(await pullRequest({ title: 'Again' })).toEqual({ ...opened, state: end });
        expect(await made.openPullRequests(project)).toEqual([
          { title: 'A change', body: 'What it does. (publication-1)' },
        ]);
      },
    );

    it('opens another pull request for what is published later from the same branch', async () => {
      await push('main', made.commits.first);
      await push('inquest/s-1', made.commits.second);
      const first = await pullRequest();
      await made.endPullRequest(project, first.number, 'closed', { keepsBranch: true });
      const second = await pullRequest({ body: 'More. (publication-2)', marker: 'publication-2' });
      expect(second).toMatchObject({ state: 'open' });
      expect(second.number).not.toBe(first.number);
    });

    it('opens no pull request for a branch that is not there', async () => {
      await push('main', made.commits.first);
      await expect(pullRequest()).rejects.toMatchObject({ code: 'FORGE_BRANCH_MISSING' });
      expect(await made.openPullRequests(project)).toEqual([]);
    });

    it.each([
      ['an empty title', { title: ' ' }, 'FORGE_REQUEST_INVALID'],
      ['a title on two lines', { title: 'a\nb' }, 'FORGE_REQUEST_INVALID'],
      ['a body without an end', { body: `${'x'.repeat(65_537)} (publication-1)` }, 'FORGE_REQUEST_INVALID'],
      ['a marker that is not in its body', { marker: 'publication-9' }, 'FORGE_REQUEST_INVALID'],
      ['one branch twice', { base: 'inquest/s-1' }, 'FORGE_REQUEST_INVALID'],
      ['a branch that is an option', { head: '-x' }, 'FORGE_BRANCH_INVALID'],
      ['a project that is a path', { project: '../x' }, 'ID_INVALID'],
    ])('refuses a pull request with %s', async (_, more, code) => {
      await expect(pullRequest(more)).rejects.toMatchObject({ code });
      expect(await made.openPullRequests(project)).toEqual([]);
    });

    it('releases a commit with its artifacts, once', async () => {
      await push('main', made.commits.first);
      const artifacts = [await made.artifact('app.tar', 'a'.repeat(100_000)), await made.artifact('notes.txt', '')];
      const first = await release({ artifacts });
      expect(first).toMatchObject({ tag: 'v1.0', commit: made.commits.first, verified: true });
      expect(await release({ artifacts })).toEqual(first);
      expect(await made.releases(project)).toEqual([{ tag: 'v1.0', artifacts: ['app.tar 100000', 'notes.txt 0'] }]);
    });

    it('never moves a tag', async () => {
      await push('main', made.commits.second);
      await release();
      await expect(release({ commit: made.commits.second })).rejects.toMatchObject({ code: 'FORGE_TAG_TAKEN' });
      expect(await made.releases(project)).toHaveLength(1);
      expect(await release()).toMatchObject({ commit: made.commits.first });
    });

    it.each([
      ['an artifact whose name is a path', { artifacts: [{ name: '../x', filePath: '/dev/null', sizeBytes: 0 }] }],
      ['an artifact of no size', { artifacts: [{ name: 'x', filePath: '/dev/null', sizeBytes: -1 }] }],
      ['two artifacts of one name', { artifacts: [1, 2].map(() => ({ name: 'x', filePath: '/x', sizeBytes: 0 })) }],
      ['no title', { title: '' }],
    ])('refuses a release with %s', async (_, more) => {
      await push('main', made.commits.first);
      await expect(release(more)).rejects.toMatchObject({ code: 'FORGE_REQUEST_INVALID' });
      expect(await made.releases(project)).toEqual([]);
    });

    it('adds topics to those that are there', async () => {
      await made.forge.addTopics(project, ['inquest', 'python'], never);
      await made.forge.addTopics(project, ['python', 'web'], never);
      expect([...(await made.topics(project))].sort()).toEqual(['inquest', 'python', 'web']);
    });

    it.each(['', 'With-Capitals', '-dash', 'two words', 'x'.repeat(36)])('refuses the topic %j', async (topic) => {
      await expect(made.forge.addTopics(project, [topic], never)).rejects.toMatchObject({
        code: 'FORGE_REQUEST_INVALID',
      });
      expect(await made.topics(project)).toEqual([]);
    });

    it('does nothing of all this for a repository that was never made', async () => {
      const other = newId('project');
      const asked = [
        pullRequest({ project: other }),
        release({ project: other }),
        made.forge.addTopics(other, ['x'], never),
      ];
      for (const outcome of await Promise.allSettled(asked)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'FORGE_REPOSITORY_MISSING' } });
      }
    });
  });
}
