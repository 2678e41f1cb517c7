import { defineErrors } from '@inquest/kernel';

/** What a `ModelClient` throws, besides `OPERATION_ABORTED` when the caller's signal aborts. No message holds the key. */
export const modelError = defineErrors({
  MODEL_UNREACHABLE: {
    fault: 'infra',
    status: 502,
    when: 'The model endpoint cannot be reached, answers with a server error, or stopped answering in the middle.',
    remediation: 'Check INQUEST_MODEL_URL and the endpoint itself, then start the run again.',
  },
  MODEL_RATE_LIMITED: {
    fault: 'infra',
    status: 429,
    when: 'The model endpoint still refused for too many requests, or an exhausted quota, after all retries.',
    remediation: 'Wait, raise the quota, or run fewer agents at once.',
  },
  MODEL_AUTH_FAILED: {
    fault: 'infra',
    status: 502,
    when: 'The model endpoint refuses the key, or the key may not use this model.',
    remediation: 'Set INQUEST_MODEL_API_KEY to a key that may use INQUEST_MODEL_NAME, and restart agent-service.',
  },
  MODEL_UNKNOWN: {
    fault: 'infra',
    status: 502,
    when: 'The model endpoint does not know the model, or has no chat completions at that address.',
    remediation: 'Check INQUEST_MODEL_NAME, and that INQUEST_MODEL_URL ends where the endpoint has /chat/completions.',
  },
  MODEL_CONTEXT_EXCEEDED: {
    fault: 'caller',
    status: 413,
    when: 'The conversation is longer than the model can read.',
    remediation: 'Start a new run in the session: the machine keeps its state, the conversation begins anew.',
  },
  MODEL_REQUEST_REFUSED: {
    fault: 'infra',
    status: 502,
    when: 'The model endpoint calls the request invalid.',
    remediation: 'Check that the endpoint supports tool calls for this model; the message has its reason.',
  },
  MODEL_REPLY_INVALID: {
    fault: 'infra',
    status: 502,
    when: 'The reply of the model endpoint is no chat completion, is longer than allowed, or calls a verb with arguments that are no JSON object.',
    remediation: 'Start the run again; when it happens often, use a model that is better at tool calls.',
  },
  MODEL_REPLY_WITHHELD: {
    fault: 'caller',
    status: 422,
    when: 'The provider of the model withheld the reply by its content policy.',
    remediation: 'Word the request differently.',
  },
});
