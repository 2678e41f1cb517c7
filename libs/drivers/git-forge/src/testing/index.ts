export { describeGitForge, type GitForgeUnderTest } from './describe-git-forge';
export { describeHostedForge, type HostedForgeUnderTest } from './describe-hosted-forge';
export { FakeGitForge, type FakeHistory } from './fake-git-forge';
export { FakeHostedForge, type FakePullRequest } from './fake-hosted-forge';
