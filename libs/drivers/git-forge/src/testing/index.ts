export { describeGitForge, type GitForgeUnderTest } from './describe-git-forge';
export { FakeGitForge, type FakeHistory } from './fake-git-forge';
