import { defineErrors } from '@inquest/kernel';

/** What a `GitForge` throws, besides `ID_INVALID` for a project name and `OPERATION_ABORTED`. */
export const gitForgeError = defineErrors({
  FORGE_UNAVAILABLE: {
    fault: 'infra',
    status: 503,
    when: 'The forge cannot be reached or written to.',
    remediation: 'Run `vmctl forge check`; the work is kept, and the publication can be retried.',
  },
  FORGE_REPOSITORY_MISSING: {
    fault: 'caller',
    status: 404,
    when: 'The forge has no repository for the project.',
    remediation: 'Ensure the repository first; publishing does that by itself.',
  },
  FORGE_REPOSITORY_UNUSABLE: {
    fault: 'infra',
    status: 409,
    when: 'Where the repository of the project would be, the forge has something that is no repository of its own.',
    remediation: 'Move it away, or name the project differently.',
  },
  FORGE_BRANCH_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A branch name is not one that every forge takes: letters, digits, _ . - and single slashes, at most 200 characters.',
    remediation: 'Use a plain branch name such as inquest/s-abc.',
  },
  FORGE_COMMIT_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'The commit to publish is not in the project repository, or is no full commit id.',
    remediation: 'Commit first, then publish the commit that was reported.',
  },
  FORGE_BRANCH_MOVED: {
    fault: 'caller',
    status: 409,
    when: 'The branch on the forge has commits that the commit to publish does not stand on. It was left alone.',
    remediation: 'Publish to another branch, or bring the commits of the forge into the project and commit again.',
  },
  FORGE_PUSH_FAILED: {
    fault: 'infra',
    status: 502,
    when: 'The forge refused the push for another reason than a moved branch.',
    remediation:
      'Read the reason in the message (a hook, a quota, a missing right), remove it and retry the publication.',
  },
  FORGE_PUSH_UNVERIFIED: {
    fault: 'infra',
    status: 502,
    when: 'The push was accepted, but the branch that was read back afterwards is not at the published commit.',
    remediation: 'Look at the branch on the forge; retrying the publication is safe.',
  },
});
