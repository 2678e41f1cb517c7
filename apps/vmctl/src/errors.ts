import { defineErrors } from '@inquest/kernel';

/** What vmctl itself can find wrong, besides what the platform answers. */
export const cliError = defineErrors({
  CLI_PLATFORM_DOWN: {
    fault: 'caller',
    status: 503,
    when: 'No platform runs under this home, or its gateway does not answer.',
    remediation: 'Start it with `vmctl up`, or name another one with INQUEST_URL and INQUEST_TOKEN.',
  },
  CLI_TOKEN_MISSING: {
    fault: 'caller',
    status: 401,
    when: 'There is no token for the platform: neither INQUEST_TOKEN nor a readable token file.',
    remediation: 'Set INQUEST_TOKEN, or run vmctl as the user that started the platform.',
  },
  CLI_ANSWER_INVALID: {
    fault: 'infra',
    status: 502,
    when: 'What answered at the address of the platform is not an Inquest gateway, or not of this version.',
    remediation: 'Check INQUEST_URL, and that vmctl and the services are of the same version.',
  },
  CLI_USAGE_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'The arguments of a command do not fit together.',
    remediation: 'See `vmctl <command> --help`.',
  },
  CLI_FILE_UNREADABLE: {
    fault: 'caller',
    status: 400,
    when: 'A file or directory of this host that a command was given cannot be read.',
    remediation: 'Check the path and its permissions; paths are those of the host that vmctl runs on.',
  },
  CLI_TARGET_UNWRITABLE: {
    fault: 'caller',
    status: 400,
    when: 'What was copied out of a machine cannot be put where it was asked to be; nothing is left there.',
    remediation: 'Name a path in a directory that exists and can be written, with room for the copy.',
  },
  CLI_TARGET_EXISTS: {
    fault: 'caller',
    status: 409,
    when: 'A directory would be copied onto one that exists already; the two are not mixed.',
    remediation: 'Remove the existing directory, or name another target.',
  },
  CLI_COPY_BROKEN: {
    fault: 'infra',
    status: 502,
    when: 'A copy out of a machine broke off or holds something that must not be unpacked; nothing of it is left.',
    remediation: 'Look with `vmctl show <machine>` whether the machine still runs, then copy again.',
  },
  CLI_TREE_TOO_LARGE: {
    fault: 'caller',
    status: 400,
    when: 'A directory whose scratch files were to be explained has more entries than are looked at.',
    remediation: 'Name a directory further down.',
  },
  CLI_CHECK_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'A self-test or demonstration ran to its end, and at least one of its checks failed.',
    remediation: 'Read the lines that begin with FAIL, then `vmctl doctor` and the logs that `vmctl status` names.',
  },
  CLI_DEMO_UNPROVEN: {
    fault: 'infra',
    status: 500,
    when: 'The demonstration ran, but something that it must show is not in the record.',
    remediation: 'Read the transcript with `vmctl log` and the logs that `vmctl status` names.',
  },
});
