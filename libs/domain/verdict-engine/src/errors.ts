import { defineErrors } from '@inquest/kernel';

/** Every code this library throws. Only reading a bundle's `meta.json` can fail; the other files are read leniently. */
export const evidenceError = defineErrors({
  EVIDENCE_META_MISSING: {
    fault: 'caller',
    status: 404,
    when: 'The evidence bundle has no meta.json.',
    remediation: 'Name a directory that holds an evidence bundle: meta.json beside events.jsonl and serial.log.',
  },
  EVIDENCE_META_INVALID: {
    fault: 'infra',
    status: 422,
    when: 'meta.json of an evidence bundle is not a JSON object with the properties of EvidenceMeta.',
    remediation: 'Restore meta.json from a copy of the bundle; without it nobody can say how the VMM process ended.',
  },
  EVIDENCE_FORMAT_UNSUPPORTED: {
    fault: 'caller',
    status: 422,
    when: 'The evidence bundle was written in a format this version does not know.',
    remediation: 'Recompute the verdict with the version of vmctl that wrote the bundle, or a newer one.',
  },
});
