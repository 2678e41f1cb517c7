import { defineErrors } from '@inquest/kernel';

/** What can go wrong with a process that Inquest starts or ends on its own host. */
export const processError = defineErrors({
  PROCESS_NOT_FOUND: {
    fault: 'infra',
    status: 500,
    when: 'The program to start is not on this host, or this user may not execute it.',
    remediation: 'Install the package that has the named program (`npm run setup` installs all that are needed).',
  },
  PROCESS_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'A host command ended with an exit code that its caller does not accept, or by a signal.',
    remediation:
      'Read the last lines of its error output in the message; run the same command by hand to reproduce it.',
  },
  PROCESS_TIMEOUT: {
    fault: 'infra',
    status: 504,
    when: 'A host command was still running at its deadline; it and its process group were killed.',
    remediation: 'Check the load of the host and what the command waits for, then try again.',
  },
  PROCESS_OUTPUT_OVERSIZED: {
    fault: 'infra',
    status: 500,
    when: 'A host command wrote more output than its caller can hold; it and its process group were killed.',
    remediation: 'Ask for less at once, or have the caller stream the output instead of collecting it.',
  },
  PROCESS_UNKILLABLE: {
    fault: 'infra',
    status: 500,
    when: 'A process was still there several seconds after SIGKILL, usually because it hangs in the kernel.',
    remediation:
      'Look at its state in /proc/<pid>/status and at the kernel log; a stuck disk or NFS mount is the usual cause.',
  },
});
