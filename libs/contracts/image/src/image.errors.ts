import { defineErrors } from '@inquest/kernel';

/** What image-service answers when it cannot do what was asked. */
export const imageError = defineErrors({
  IMAGE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No image of that name, or no such version of it, exists on this platform.',
    remediation: 'List what there is with `vmctl image ls`; build a missing one with `vmctl image build <name>`.',
  },
  IMAGE_NOT_FROZEN: {
    fault: 'caller',
    status: 409,
    when: 'The image has no frozen version; only a frozen version can start a machine.',
    remediation: 'Freeze it with `vmctl image freeze <name>`.',
  },
  IMAGE_UNFROZEN: {
    fault: 'caller',
    status: 409,
    when: 'A working copy of the image is open for maintenance and no version was named.',
    remediation: 'Freeze it in the maintenance app, or name a frozen version explicitly.',
  },
  IMAGE_STATE_WRONG: {
    fault: 'caller',
    status: 409,
    when: 'The version is not in the state that the operation needs, for example freezing a failed build.',
    remediation: 'See its state and log with `vmctl image show <name>`.',
  },
  IMAGE_BUSY: {
    fault: 'caller',
    status: 409,
    when: 'Another operation is at work on the same image.',
    remediation: 'Wait for the named operation, or cancel it.',
  },
  IMAGE_RECIPE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'There is no recipe of that name.',
    remediation: 'The message lists the recipes there are; a new one is a folder below tools/images.',
  },
  IMAGE_BUILD_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'A recipe step exited with an error; the version is kept as failed with its log.',
    remediation: 'Read the build log with `vmctl image show <name>`, mend the recipe or the host, and build again.',
  },
  IMAGE_SMOKE_FAILED: {
    fault: 'guest',
    status: 422,
    when: 'The version was booted as a session would boot it and a check failed; it is kept as failed.',
    remediation: 'The message names the check; the serial log of the smoke machine is kept beside the version.',
  },
  IMAGE_CHANGED: {
    fault: 'infra',
    status: 409,
    when: 'A file of a frozen version no longer matches its record. Every machine on that version is now suspect.',
    remediation: 'Do not start machines on it; verify with `vmctl image verify <name>` and rebuild it.',
  },
  OPERATION_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No operation has that id.',
    remediation: 'Use the operationId that the 202 answer gave.',
  },
});
