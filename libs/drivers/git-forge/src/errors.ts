import { defineErrors } from '@inquest/kernel';

/** What a `GitForge` throws, besides `ID_INVALID` for a project name and `OPERATION_ABORTED`. */
export const gitForgeError = defineErrors({
  FORGE_UNAVAILABLE: {
    fault: 'infra',
    status: 503,
    when: 'The forge cannot be reached or written to.',
    remediation: 'The work is kept: retry with `vmctl publish retry <id>` when the forge can be reached again.',
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
    remediation:
      'Publish to a branch of the session with `vmctl publish retry <id> --own-branch`, which opens a pull request where the forge has them; or move the branch back on the forge and retry.',
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
  FORGE_CHANGE_UNVERIFIED: {
    fault: 'infra',
    status: 502,
    when: 'The forge accepted a repository, release or topic, but reading it back does not show it.',
    remediation: 'Look at the forge; repeating the request is safe.',
  },
  FORGE_ADDRESS_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'The URL that is configured for the forge cannot be used, or would show the token to the network.',
    remediation: 'Configure the https URL of the forge, without credentials, and start the service again.',
  },
  FORGE_TOKEN_UNREADABLE: {
    fault: 'infra',
    status: 500,
    when: 'The file with the token of the forge is missing, readable by others, or does not hold one token.',
    remediation: 'Write the token alone into the file that the message names, and give it mode 0600.',
  },
  FORGE_TOKEN_REJECTED: {
    fault: 'infra',
    status: 502,
    when: 'The forge does not know the token, or it was revoked or has expired. Nothing was published.',
    remediation: 'Make a new token on the forge, write it into the token file, and retry; no restart is needed.',
  },
  FORGE_SCOPE_MISSING: {
    fault: 'infra',
    status: 502,
    when: 'The token of the forge lacks the scope that the message names. Nothing was published.',
    remediation: 'Make a token with that scope on the forge, write it into the token file, and retry.',
  },
  FORGE_REQUEST_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A pull request, release or topic has a text, name or size that no forge takes.',
    remediation: 'Correct the property that the message names.',
  },
  FORGE_REQUEST_REFUSED: {
    fault: 'infra',
    status: 502,
    when: 'The forge answered a request with a refusal that repeating does not change; the message has its words.',
    remediation:
      'Give the user of the token the right that is missing, or change what the forge objects to, then retry.',
  },
  FORGE_RESPONSE_INVALID: {
    fault: 'infra',
    status: 502,
    when: 'The forge answered with something that is not its documented API: another shape or size, or a redirect elsewhere.',
    remediation:
      'Check that the configured URL is the final address of the forge itself, not of a proxy or a login page.',
  },
  FORGE_BRANCH_MISSING: {
    fault: 'caller',
    status: 404,
    when: 'A pull request names a branch that the forge does not have.',
    remediation: 'Publish both branches first.',
  },
  FORGE_TAG_TAKEN: {
    fault: 'caller',
    status: 409,
    when: 'The tag of a release exists on the forge at another commit, or is held by a release that is not ours. It was left alone.',
    remediation: 'Release under another tag.',
  },
  FORGE_ARTIFACT_UNREADABLE: {
    fault: 'infra',
    status: 500,
    when: 'The file of a release artifact cannot be read on this host, or has another size than announced.',
    remediation: 'Collect the artifact again, then repeat the release; what was uploaded is kept.',
  },
});
