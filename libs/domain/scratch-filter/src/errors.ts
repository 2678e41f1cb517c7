import { defineErrors } from '@inquest/kernel';

/** Everything this library throws. */
export const scratchError = defineErrors({
  SCRATCH_RULES_INVALID: {
    fault: 'caller',
    status: 422,
    when: 'The scratch rules of a project (.inquest/scratch.yaml) do not have the documented shape.',
    remediation:
      'Correct every place that the message lists; `keep` and `hold` are lists of globs, or of {pattern, why}.',
  },
});
