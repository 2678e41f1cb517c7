import { defineErrors } from '@inquest/kernel';

/** What the health endpoints report. */
export const healthError = defineErrors({
  DATABASE_NOT_ANSWERING: {
    fault: 'infra',
    status: 503,
    when: 'Postgres refused or dropped the connection of a readiness check.',
    remediation: 'Check that Postgres runs; the service becomes ready again by itself.',
  },
});
