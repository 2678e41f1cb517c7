import { describeGitForge, FakeGitForge } from './testing';

const commits = { first: '1'.repeat(40), second: '2'.repeat(40), unrelated: '3'.repeat(40) };

describeGitForge('FakeGitForge', () => {
  const forge = new FakeGitForge({ [commits.first]: null, [commits.second]: commits.first, [commits.unrelated]: null });
  return Promise.resolve({
    forge,
    repositoryPath: '/projects/demo.git',
    commits,
    headOf: (project, branch) => Promise.resolve(forge.headOf(project, branch)),
    close: () => Promise.resolve(),
  });
});
