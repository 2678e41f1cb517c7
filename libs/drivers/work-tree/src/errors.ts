import { defineErrors } from '@inquest/kernel';

/** What this library throws, besides the `PROCESS_*` codes of the git that it runs and `OPERATION_ABORTED`. */
export const workTreeError = defineErrors({
  REPOSITORY_MISSING: {
    fault: 'caller',
    status: 404,
    when: 'There is no bare git repository at the path of the project.',
    remediation: 'Create the project first.',
  },
  TREE_ARCHIVE_INVALID: {
    fault: 'guest',
    status: 422,
    when: 'What the guest sent as its tree is no whole tar archive. Nothing was taken from it.',
    remediation: 'Collect again; when it repeats, the guest agent of the image is broken or was tampered with.',
  },
  TREE_TOO_LARGE: {
    fault: 'guest',
    status: 413,
    when: 'The tree in the guest has more entries or bytes than are taken. Nothing was taken from it.',
    remediation: 'Remove what does not belong into the project (build results, downloads), then commit again.',
  },
  TREE_STORE_FULL: {
    fault: 'infra',
    status: 507,
    when: 'The file system for temporary files has no space left for the tree of the guest.',
    remediation: 'Free space on the host, then commit again; the files are still in the guest.',
  },
  COMMIT_INPUT_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A commit was asked for with a message or a person that git cannot record.',
    remediation: 'Give a message of 1 byte to 64 KiB, and names and addresses without line breaks or angle brackets.',
  },
  COMMIT_BASE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'The tree that the guest started from is not in the project repository.',
    remediation: 'Give the base that the export or the last commit of the session reported.',
  },
  COMMIT_CONFLICT: {
    fault: 'caller',
    status: 409,
    when: 'Since the guest got its files, somebody else changed the same paths. Nothing was committed.',
    remediation: 'Start a session on the current state of the project, bring the change in there, and commit again.',
  },
});
