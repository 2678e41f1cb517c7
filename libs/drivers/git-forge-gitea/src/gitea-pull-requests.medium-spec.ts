import { endPull } from './testing/double-repositories';
import { startGiteaFixture, type GiteaFixture } from './testing/gitea-fixture';

jest.setTimeout(60_000);

const never = new AbortController().signal;
const PROJECT = 'demo';
const HEAD = 'inquest/s-1';

describe('pull requests of GiteaForge', () => {
  let made: GiteaFixture;
  beforeEach(async () => {
    made = await startGiteaFixture();
    await made.forge.ensureRepository(PROJECT, never);
    await push('main', made.commits.first);
    await push(HEAD, made.commits.second);
  });
  afterEach(() => made.close());

  const push = (branch: string, commit: string) =>
    made.forge.push({ repositoryPath: made.repositoryPath, project: PROJECT, branch, commit }, never);
  const open = () =>
    made.forge.openPullRequest(
      { project: PROJECT, head: HEAD, base: 'main', title: 'Work', body: 'By publication-1.', marker: 'publication-1' },
      never,
    );
  const repository = () => {
    const found = made.double.repositories.get('robot', PROJECT);
    if (found === null) throw new Error('the test made no repository');
    return found;
  };

  it('takes one whose creation was answered by silence for made', async () => {
    made.double.faults.push({ request: /^POST .*\/pulls$/, reply: 'lose-answer' });
    expect(await open()).toMatchObject({ number: 1, state: 'open' });
    expect(repository().pulls).toHaveLength(1);
  });

  it.each(['merged', 'closed'] as const)(
    'makes no second one when the answer was lost and a person has %s it before the next look',
    async (end) => {
      made.double.faults.push({ request: /^POST .*\/pulls$/, reply: 'lose-answer' });
      made.double.onRequest = async (request) => {
        const [pull] = repository().pulls;
        if (/^GET .*\/pulls$/.test(request) && pull?.state === 'open') await endPull(repository(), 1, end);
      };
      expect(await open()).toMatchObject({ number: 1, state: end });
      expect(repository().pulls).toHaveLength(1);
      expect(await made.headOf(PROJECT, HEAD)).toBeNull();
    },
  );

  it('finds one that was dealt with among hundreds that were before', async () => {
    const { pulls } = repository();
    const first = await open();
    const [ours] = pulls;
    const others = Array.from({ length: 120 }, (_, i) => ({
      ...ours,
      number: i + 2,
      state: 'closed' as const,
      body: 'By publication-0.',
    }));
    pulls.unshift(...others);
    await endPull(repository(), first.number, 'merged');
    expect(await open()).toMatchObject({ number: first.number, state: 'merged' });
    expect(pulls).toHaveLength(121);
  });

  it('takes no pull request of another branch for its own, whatever its text says', async () => {
    await push('somebody', made.commits.second);
    const copied = { title: 'Copied', body: 'By publication-1.', marker: 'publication-1' };
    const theirs = await made.forge.openPullRequest(
      { project: PROJECT, head: 'somebody', base: 'main', ...copied },
      never,
    );
    await endPull(repository(), theirs.number, 'closed');
    expect(await open()).toMatchObject({ number: 2, state: 'open' });
  });
});
