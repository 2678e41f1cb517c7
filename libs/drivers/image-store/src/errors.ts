import { defineErrors } from '@inquest/kernel';

/** What this library throws, besides `OPERATION_ABORTED` when the caller's signal aborts. */
export const imageStoreError = defineErrors({
  IMAGE_NAME_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'An image name is not 1 to 32 characters of a-z, 0-9 and -, beginning with a letter or digit.',
    remediation: 'Use the name exactly as `vmctl image ls` prints it.',
  },
  IMAGE_VERSION_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'An image version is not a positive integer.',
    remediation: 'Use a version that `vmctl image ls` prints.',
  },
  IMAGE_VERSION_MISSING: {
    fault: 'caller',
    status: 404,
    when: 'The image store of this node does not hold that version.',
    remediation: 'Build it on this node with `vmctl image build`, or name a version that `vmctl image ls` prints.',
  },
  IMAGE_VERSION_EXISTS: {
    fault: 'caller',
    status: 409,
    when: 'A version of that number is already in the store; versions are never replaced.',
    remediation: 'Take the next version number.',
  },
  IMAGE_VERSION_SEALED: {
    fault: 'caller',
    status: 409,
    when: 'A version that has a record was to be sealed again, or its disk replaced.',
    remediation: 'Unfreeze the image and freeze the working copy: that makes the next version.',
  },
  IMAGE_RECORD_MISSING: {
    fault: 'infra',
    status: 409,
    when: 'A version has no record, so it was never frozen, or its record was deleted.',
    remediation: 'Freeze the version; if it was frozen before, build it again and treat its machines as suspect.',
  },
  IMAGE_RECORD_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'The record of a version cannot be read, or belongs to another version.',
    remediation: 'Build the version again; do not start machines on it.',
  },
  IMAGE_FILE_MISSING: {
    fault: 'infra',
    status: 409,
    when: 'A version lacks a file that it must have.',
    remediation: 'Build the version again; `vmctl image verify` lists what is wrong with the others.',
  },
  IMAGE_FILE_UNEXPECTED: {
    fault: 'infra',
    status: 409,
    when: 'The directory of a version holds something other than the regular files of an image, each with one name.',
    remediation: 'Remove what the message names, or build the version again.',
  },
  IMAGE_FILE_CHANGED: {
    fault: 'infra',
    status: 409,
    when: 'A file of a frozen version is no longer the one that was recorded, or changed while it was read.',
    remediation: 'Run `vmctl image verify`; until it passes, treat every machine on this version as suspect.',
  },
  IMAGE_DIGEST_MISMATCH: {
    fault: 'infra',
    status: 409,
    when: 'The content of a file of a frozen version does not have the digest that was recorded.',
    remediation: 'Build the image again and destroy the machines on this version: every one of them is suspect.',
  },
  IMAGE_DIRECTORY_UNSAFE: {
    fault: 'infra',
    status: 409,
    when: 'A directory of the store is a symbolic link or no directory.',
    remediation: 'Replace it by a real directory; the store follows no links.',
  },
  IMAGE_STORE_FULL: {
    fault: 'infra',
    status: 507,
    when: 'The file system of the image store has no space left.',
    remediation: 'Retire versions that nothing stands on, or give the store more space, then try again.',
  },
  IMAGE_STORE_UNAVAILABLE: {
    fault: 'infra',
    status: 503,
    when: 'The operating system refused an operation on the image store.',
    remediation: 'Check that the directory exists and belongs to the user that the service runs as.',
  },
});
