import { defineErrors } from '@inquest/kernel';

/** What this library throws. Reading never throws: what is wrong with a transcript is part of the answer. */
export const transcriptError = defineErrors({
  TRANSCRIPT_ENTRY_INVALID: {
    fault: 'infra',
    status: 500,
    when: 'A service tried to record an entry that lacks a property or has one of the wrong type.',
    remediation: 'This is a defect of the service that wrote it; report it with the transcript of the session.',
  },
});
