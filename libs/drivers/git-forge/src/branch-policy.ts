import { parseId } from '@inquest/kernel';

/** Where a session's commits go: to a branch of the session's own, or to the branch they were made on. */
export const BRANCH_POLICIES = ['session', 'default'] as const;
export type BranchPolicy = (typeof BRANCH_POLICIES)[number];

/** The branch on the forge. Throws `ID_INVALID` for a session that is no id. */
export function publishedBranch(
  policy: BranchPolicy,
  { sessionId, defaultBranch }: { readonly sessionId: string; readonly defaultBranch: string },
): string {
  return policy === 'session' ? `inquest/${parseId(sessionId, 'session')}` : defaultBranch;
}
