import { defineErrors } from '@inquest/kernel';

/** What publish-service answers when it cannot do what was asked. */
export const publishError = defineErrors({
  PROJECT_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No project of that name exists on this platform.',
    remediation: 'A session creates its project; name one that exists or open a session for it.',
  },
  PROJECT_BUSY: {
    fault: 'infra',
    status: 503,
    when: 'So many commits of the same project wait for their turn that no further one is taken.',
    remediation: 'Try again when some of them are done.',
  },
  COMMIT_SESSION_UNSTAGED: {
    fault: 'caller',
    status: 409,
    when: 'The files of the project were never put into the machine of that session, so what it changed is unknown.',
    remediation: 'Open a session for the project; opening puts the files into its machine.',
  },
  COMMIT_TREE_REFUSED: {
    fault: 'guest',
    status: 422,
    when: 'The tree that came out of the guest cannot be taken: it is too large, or not a readable archive.',
    remediation: 'The message names the limit or the entry; make the tree smaller inside the machine and commit again.',
  },
  PUBLICATION_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No publication has that id.',
    remediation: 'List them with `vmctl publish ls`.',
  },
  PUBLISH_NOTHING_COMMITTED: {
    fault: 'caller',
    status: 409,
    when: 'The session has made no commit, so there is nothing to publish.',
    remediation: 'Commit with the git_commit verb first.',
  },
  PUBLICATION_RELEASED: {
    fault: 'caller',
    status: 409,
    when: 'The publication has a release under another tag, and one commit of a session is released once.',
    remediation: 'Use the release that the message names, or publish a further commit and release that.',
  },
  RELEASE_ARTIFACT_UNKNOWN: {
    fault: 'caller',
    status: 422,
    when: 'A release names an artifact that is no regular file of the published commit.',
    remediation: 'Name files of the commit by their paths in the project; what was held back is not in it.',
  },
});
