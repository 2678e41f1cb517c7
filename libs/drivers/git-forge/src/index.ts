export { BRANCH_POLICIES, publishedBranch, type BranchPolicy } from './branch-policy';
export { gitForgeError } from './errors';
export {
  capabilitiesOf,
  FORGE_CAPABILITIES,
  PULL_REQUEST_STATES,
  opensPullRequests,
  publishesReleases,
  takesTopics,
  type ForgeCapability,
  type ForgePullRequest,
  type ForgeRelease,
  type PullRequestForge,
  type PullRequestRequest,
  type PullRequestState,
  type ReleaseArtifact,
  type ReleaseForge,
  type ReleaseRequest,
  type TopicForge,
} from './forge-capabilities';
export { checkPullRequest, checkRelease, checkTopics } from './forge-requests';
export {
  GIT_FORGE,
  type EnsuredBranch,
  type ForgeRepository,
  type GitForge,
  type PushRequest,
  type PushResult,
} from './git-forge';
export { branchMoved, checkPushRequest, commitUnknown, repositoryMissing } from './push-request';
