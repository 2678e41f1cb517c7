import { defineErrors } from '@inquest/kernel';

/** Why the scripted model does not start. What is wrong with a request is told in the words of the API instead. */
export const scenarioError = defineErrors({
  SCENARIO_UNREADABLE: {
    fault: 'caller',
    status: 400,
    when: 'The scenario file does not exist, cannot be read, or is longer than 1 MiB.',
    remediation: 'Set INQUEST_SCENARIO to a readable scenario file.',
  },
  SCENARIO_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'The scenario file is no YAML, or has properties that a scenario does not have.',
    remediation: 'Correct what the message names; apps/scripted-model/scenarios/quickstart.yaml is an example.',
  },
});
