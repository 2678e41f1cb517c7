export {
  DEFAULT_TREE_LIMITS,
  type CollectedEntry,
  type CollectedTree,
  type EntryMode,
  type LeftOut,
  type TreeLimits,
} from './collected-tree';
export { type CommitIdentity } from './commit-identity';
export { workTreeError } from './errors';
export { HardenedGit, onlyWhenMissing, type GitResult, type GitRun } from './hardened-git';
export {
  ProjectRepository,
  type CommitRequest,
  type CommitResult,
  type CommittedFile,
  type Head,
  type ReadFile,
} from './project-repository';
export { isDotGit, pathFault } from './safe-path';
export { type FilterCandidate, type FilterDecision, type FilterEntry, type ScratchFilter } from './scratch-filter';
