import { capabilitiesOf } from './forge-capabilities';
import { describeHostedForge, FakeGitForge, FakeHostedForge } from './testing';

const commits = { first: '1'.repeat(40), second: '2'.repeat(40), unrelated: '3'.repeat(40) };
const history = { [commits.first]: null, [commits.second]: commits.first, [commits.unrelated]: null };

describeHostedForge('FakeHostedForge', () => {
  const forge = new FakeHostedForge(history);
  return Promise.resolve({
    forge,
    repositoryPath: '/projects/demo.git',
    commits,
    headOf: (project, branch) => Promise.resolve(forge.headOf(project, branch)),
    openPullRequests: (wanted) =>
      Promise.resolve(
        forge.pullRequests.filter(({ project }) => project === wanted).map(({ title, body }) => ({ title, body })),
      ),
    endPullRequest: (project, number, end, options) => {
      forge.endPullRequest(project, number, end, options);
      return Promise.resolve();
    },
    releases: (wanted) =>
      Promise.resolve(
        forge.releases
          .filter(({ project }) => project === wanted)
          .map(({ tag, artifacts }) => ({ tag, artifacts: artifacts.map((one) => `${one.name} ${one.sizeBytes}`) })),
      ),
    topics: (project) => Promise.resolve(forge.topicsOf(project)),
    artifact: (name, content) =>
      Promise.resolve({ name, filePath: `/artifacts/${name}`, sizeBytes: Buffer.byteLength(content) }),
    close: () => Promise.resolve(),
  });
});

describe('capabilitiesOf', () => {
  it('is empty for a forge that only takes pushes', () => {
    expect(capabilitiesOf(new FakeGitForge(history))).toEqual([]);
  });
});
