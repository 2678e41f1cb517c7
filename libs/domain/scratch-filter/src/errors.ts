import { defineErrors } from '@inquest/kernel';

/** Everything this library throws. */
export const scratchError = defineErrors({
  SCRATCH_RULES_INVALID: {
    fault: 'caller',
    status: 422,
    when: 'The scratch rules of a project (.inquest/scratch.yaml) are no YAML, or do not have the documented shape.',
    remediation:
      'Correct every place that the message lists, and commit the file; `keep` and `hold` are lists of globs, or of {pattern, why}, without aliases. Until then the default rules alone decide.',
  },
  SCRATCH_RULES_TOO_LARGE: {
    fault: 'caller',
    status: 422,
    when: 'The scratch rules of a project (.inquest/scratch.yaml) are longer than what is read of them.',
    remediation:
      'Shorten the file to the size that the message names, with globs in place of lists of paths, and commit it. Until then the default rules alone decide.',
  },
});
