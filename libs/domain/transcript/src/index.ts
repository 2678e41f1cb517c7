export {
  CONFIRMATION_STATES,
  RUN_OUTCOMES,
  TRANSCRIPT_FORMAT_VERSION,
  VERB_OUTCOMES,
  type Census,
  type Confirmation,
  type ConfirmationState,
  type CountDifference,
  type Cut,
  type Entry,
  type EntryBodies,
  type EntryType,
  type Envelope,
  type HeldFile,
  type HostEvent,
  type JsonValue,
  type ModelTurn,
  type PlanRecorded,
  type Publication,
  type RunEnded,
  type RunOutcome,
  type RunStarted,
  type SessionClosed,
  type SessionOpened,
  type TokenCount,
  type TranscriptEntry,
  type Verb,
  type VerbCount,
  type VerbOutcome,
  type VerdictDrawn,
  type VerdictQuote,
} from './entry';
export { ENTRY_TYPES, entryFrom } from './entry-shape';
export { transcriptError } from './errors';
export { createRedactor, MIN_SECRET_LENGTH, type Redact, type Redactor, type Secret } from './redactor';
export { redactTokenShapes } from './token-shapes';
export { encodeEntry, MAX_LINE_BYTES } from './encode-entry';
export {
  decodeTranscript,
  MAX_PROBLEMS,
  TRANSCRIPT_PROBLEMS,
  TranscriptDecoder,
  type DecodedTranscript,
  type TranscriptProblem,
  type TranscriptProblemKind,
  type TranscriptSummary,
} from './decode-transcript';
export { takeCensus, withGuestCounts } from './census';
export { EntryRenderer, renderTranscript } from './render-transcript';
export { MIN_WIDTH, type RenderOptions } from './row';
export { printable, printableLine } from './printable';
