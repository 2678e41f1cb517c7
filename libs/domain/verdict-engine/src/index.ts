export { BUNDLE_FILES, type EvidenceFile } from './bundle-files';
export { MAX_QUOTE_CHARS, printable, type Citation } from './citation';
export { evidenceError } from './errors';
export {
  EVIDENCE_DRIVERS,
  EVIDENCE_ORIGINS,
  HOST_ACTIONS,
  HOST_FACTS,
  type ActionRecord,
  type Evidence,
  type EvidenceDriver,
  type EvidenceMeta,
  type EvidenceOrigin,
  type HostAction,
  type HostFact,
  type ProbeOf,
  type ProbeRecord,
  type VmmExit,
} from './evidence';
export {
  decodeAction,
  decodeMeta,
  decodeProbe,
  encodeAction,
  encodeMeta,
  encodeProbe,
  parseEvidence,
  type BundleContent,
} from './evidence-codec';
export {
  BLAMES,
  CONFIDENCES,
  encodeVerdict,
  ENGINE_VERSION,
  MAX_CITATIONS,
  VERDICT_CLASSES,
  type Blame,
  type Confidence,
  type Verdict,
  type VerdictClass,
} from './verdict';
export { drawVerdict } from './draw-verdict';
export { exitStatusFor, VERDICT_EXIT_STATUS } from './exit-status';
export { AGENT_PORT_IDS } from './facts/case-facts';
export { classifyConsole, ConsoleClassifier, type ConsoleClassification } from './console/classify-console';
export { MAX_REPORTS } from './console/report-finder';
export { CONSOLE_CLASSES, type ConsoleClass, type ConsoleReport, type Severity } from './console/report';
