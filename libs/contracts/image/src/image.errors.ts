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
  IMAGE_IN_USE: {
    fault: 'caller',
    status: 409,
    when: 'Machines or child versions stand on the version, so it cannot be retired, removed or frozen.',
    remediation: 'End what the message names (`vmctl rm <machine>`), then ask again.',
  },
  IMAGE_SOURCE_UNREACHABLE: {
    fault: 'caller',
    status: 400,
    when: 'The path of an import is not a file (for OCI, a directory) below the import directory of image-service.',
    remediation: 'Copy the source into INQUEST_IMPORT_DIRECTORY of image-service, or send it as an upload.',
  },
  IMAGE_SOURCE_DIGEST_WRONG: {
    fault: 'caller',
    status: 422,
    when: 'The bytes of an import do not have the declared sha256 digest. Nothing of them was used.',
    remediation: 'Get the source again and compare with `sha256sum`; declare the digest that its publisher names.',
  },
  IMAGE_SOURCE_OVERSIZED: {
    fault: 'caller',
    status: 413,
    when: 'An import is, or would become, larger than image-service allows.',
    remediation: 'Make the source smaller, or raise INQUEST_IMAGE_MAX_BYTES of image-service.',
  },
  IMAGE_SOURCE_UNSAFE: {
    fault: 'caller',
    status: 422,
    when: 'An import reaches outside of itself: a backing or data file, a path out of the tree, a device node.',
    remediation: 'Make a self-contained source: `qemu-img convert` for a disk, a tar without what the message names.',
  },
  IMAGE_SOURCE_INVALID: {
    fault: 'caller',
    status: 422,
    when: 'An import is cut, damaged, of another format than declared, or holds no single ext4 root.',
    remediation: 'Declare the right format; of a partitioned disk, import the partition that holds the root.',
  },
  IMAGE_FILE_SYSTEM_DAMAGED: {
    fault: 'caller',
    status: 422,
    when: 'The file system of an import, a working copy or a version cannot be read, or not be repaired.',
    remediation: 'Import it again from a sound source; of a working copy, discard it and unfreeze the image again.',
  },
  IMAGE_RECIPE_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'The recipe file of an image cannot be read, is no YAML, or does not have the shape of a recipe.',
    remediation: 'Mend the recipe.yaml that the message names; it says which property is wrong.',
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
  OPERATION_INTERRUPTED: {
    fault: 'infra',
    status: 503,
    when: 'image-service stopped or was killed while the operation was at work.',
    remediation: 'Start it again: a build makes a new version, a freeze goes on where the version is.',
  },
  OPERATION_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No operation has that id.',
    remediation: 'Use the operationId that the 202 answer gave.',
  },
});
