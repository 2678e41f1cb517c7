import { parseId } from '@inquest/kernel';
import { gitForgeError } from './errors';
import type { PushRequest } from './git-forge';

const MAX_BRANCH_LENGTH = 200;
// Stricter than git-check-ref-format: no segment begins with a dot or dash, or ends in .lock or a dot.
const BRANCH =
  /^(?!.*\.lock(?:\/|$))(?!.*\.\.)(?!.*\.(?:\/|$))[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const COMMIT = /^[0-9a-f]{40}$/;

/**
 * Checks what every driver must check before anything of a request becomes an argument, a path or a URL. Throws
 * `ID_INVALID`, `FORGE_BRANCH_INVALID` or `FORGE_COMMIT_UNKNOWN`.
 */
export function checkPushRequest({ project, branch, commit }: PushRequest): void {
  parseId(project, 'project');
  checkBranch(project, branch);
  checkCommitId(project, commit);
}

/** Throws `FORGE_BRANCH_INVALID` for the name of a branch or tag that not every forge takes. */
export function checkBranch(project: string, branch: string): void {
  if (branch.length > MAX_BRANCH_LENGTH || !BRANCH.test(branch)) {
    const shown = JSON.stringify(branch.slice(0, MAX_BRANCH_LENGTH));
    throw gitForgeError('FORGE_BRANCH_INVALID', `${shown} is not a branch name that can be published`, { project });
  }
}

/** Throws `FORGE_COMMIT_UNKNOWN` for what is no full commit id. */
export function checkCommitId(project: string, commit: string): void {
  if (!COMMIT.test(commit)) throw commitUnknown(project, commit);
}

/** `FORGE_COMMIT_UNKNOWN`, in the same words from every driver. */
export const commitUnknown = (project: string, commit: string) =>
  gitForgeError('FORGE_COMMIT_UNKNOWN', `project ${project} has no commit ${JSON.stringify(commit.slice(0, 80))}`, {
    project,
  });

/** `FORGE_BRANCH_MOVED`, in the same words from every driver. */
export function branchMoved({ project, branch, commit }: PushRequest, found: string) {
  const message = `branch ${branch} of ${project} is at ${found}, on which ${commit} does not stand; nothing was pushed`;
  return gitForgeError('FORGE_BRANCH_MOVED', message, { project, branch, commit, found });
}

/** `FORGE_REPOSITORY_MISSING`, in the same words from every driver. */
export const repositoryMissing = (project: string) =>
  gitForgeError('FORGE_REPOSITORY_MISSING', `the forge has no repository for project ${project}`, { project });
