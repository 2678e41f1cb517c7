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
  CLI_DEMO_UNPROVEN: {
    fault: 'infra',
    status: 500,
    when: 'The demonstration ran, but something that it must show is not in the record.',
    remediation: 'Read the transcript with `vmctl log` and the logs that `vmctl status` names.',
  },
  CLI_BUNDLE_UNREADABLE: {
    fault: 'caller',
    status: 400,
    when: 'A directory given as an evidence bundle has no meta.json, or it cannot be read.',
    remediation: 'Name a directory below INQUEST_HOME/evidence/<machine>/<incarnation>.',
  },
});
