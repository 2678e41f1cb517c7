import { defineErrors } from '@inquest/kernel';

/** What agent-service answers when it cannot do what was asked. */
export const agentError = defineErrors({
  SESSION_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No session has that id.',
    remediation: 'List the sessions with `vmctl logs`.',
  },
  SESSION_STATE_WRONG: {
    fault: 'caller',
    status: 409,
    when: 'The session is not in a state in which this can be done, for example a verb on a closed session.',
    remediation: 'Open a new session; the transcript of the old one stays readable with `vmctl log`.',
  },
  RUN_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No run has that id.',
    remediation: 'Use the runId that the submit answered.',
  },
  RUN_ACTIVE: {
    fault: 'caller',
    status: 409,
    when: 'The session already has a run at work.',
    remediation: 'Wait for it, or cancel it first.',
  },
  RUN_TURNS_EXHAUSTED: {
    fault: 'guest',
    status: 422,
    when: 'The model used all the turns of the run without calling done.',
    remediation: 'Read the transcript; raise the turn limit or ask for a smaller step.',
  },
  RUN_MODEL_FAILED: {
    fault: 'infra',
    status: 502,
    when: 'The model endpoint could not be used to the end of the run.',
    remediation: 'The message has its answer; check INQUEST_MODEL_URL, the model name and the key.',
  },
  RUN_MACHINE_LOST: {
    fault: 'guest',
    status: 410,
    when: 'The machine of the session ended while a run was at work.',
    remediation: 'Read how it ended with `vmctl verdict <machine>`, then open a new session.',
  },
  RUN_INTERRUPTED: {
    fault: 'infra',
    status: 503,
    when: 'The agent-service that worked on the run stopped before it was done.',
    remediation: 'The transcript is kept up to that point; submit the run again.',
  },
  CONFIRMATION_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No confirmation has that id.',
    remediation: 'List the open ones with `vmctl agent confirmations`.',
  },
  CONFIRMATION_MISMATCH: {
    fault: 'caller',
    status: 409,
    when: 'The answer names another run, call or digest of arguments than the confirmation is bound to.',
    remediation: 'Show the confirmation again and answer what it asks now.',
  },
  CONFIRMATION_SETTLED: {
    fault: 'caller',
    status: 409,
    when: 'The confirmation was answered already, or withdrawn because its run ended.',
    remediation: 'Nothing is left to do; show the confirmation to see what became of it.',
  },
  CONFIRMATION_EXPIRED: {
    fault: 'caller',
    status: 410,
    when: 'The answer came after the time in which it was waited for. The model was told that nobody answered.',
    remediation: 'Submit another run; INQUEST_CONFIRMATION_TIMEOUT_MS of agent-service sets how long is waited.',
  },
  CONFIRMATION_CHOICE_WRONG: {
    fault: 'caller',
    status: 422,
    when: 'An approval names no choice where there are some, or one that is not on offer.',
    remediation: 'Approve with one of the choices that the message lists, or deny.',
  },
  CONFIRMATION_ACTIVE: {
    fault: 'infra',
    status: 409,
    when: 'A run that waits for a person asked for a second confirmation; one at a time is open in a run.',
    remediation: 'Answer the open one, or cancel the run.',
  },
  VERB_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'There is no verb of that name.',
    remediation: 'The message lists the verbs there are.',
  },
  VERB_ARGUMENTS_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'The arguments of a verb do not have the shape that its table row gives.',
    remediation: 'Correct the named arguments and call the verb again.',
  },
});
