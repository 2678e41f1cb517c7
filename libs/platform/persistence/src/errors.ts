import { defineErrors } from '@inquest/kernel';

/** What can go wrong between a service and its database. */
export const persistenceError = defineErrors({
  DATABASE_UNREACHABLE: {
    fault: 'infra',
    status: 503,
    when: 'Postgres did not accept a connection before the deadline of the start.',
    remediation: 'Check that Postgres runs and that INQUEST_DATABASE_URL names it with the right user and password.',
  },
  DATABASE_MIGRATION_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'A migration of the schema failed; it was rolled back and the schema is as before.',
    remediation: 'Read the cause in the log; the service does not start until its schema is up to date.',
  },
  CURSOR_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A page token is not one that a listing handed out.',
    remediation: 'Pass nextToken of the page before unchanged, or none for the first page.',
  },
  OUTBOX_TRANSACTION_MISSING: {
    fault: 'infra',
    status: 500,
    when: 'An event was to be recorded outside of a database transaction.',
    remediation: 'Pass the EntityManager of the transaction that changes the state; this is a defect of the service.',
  },
});
