import { defineErrors } from '@inquest/kernel';

/** What can be wrong with the configuration of a program. */
export const configError = defineErrors({
  CONFIG_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'A program starts with environment variables that are missing or have values it cannot use.',
    remediation: 'Correct every variable that the message names, then start the program again.',
  },
});
