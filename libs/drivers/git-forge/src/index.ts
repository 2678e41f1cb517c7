export { gitForgeError } from './errors';
export { GIT_FORGE, type ForgeRepository, type GitForge, type PushRequest, type PushResult } from './git-forge';
export { branchMoved, checkPushRequest, commitUnknown, repositoryMissing } from './push-request';
