import {
  CONFIRMATION_STATES,
  RUN_OUTCOMES,
  VERB_OUTCOMES,
  type Census,
  type CountDifference,
  type Cut,
  type EntryBodies,
  type EntryType,
  type Envelope,
  type HeldFile,
  type JsonValue,
  type TokenCount,
  type TranscriptEntry,
  type VerbCount,
  type VerdictQuote,
} from './entry';

type Check<T> = (value: unknown) => value is T;
type Shape<Body> = { readonly [K in keyof Body]-?: Check<Exclude<Body[K], undefined>> };

const text: Check<string> = (value): value is string => typeof value === 'string';
const truth: Check<boolean> = (value): value is boolean => typeof value === 'boolean';
const number: Check<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value);
const count: Check<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const json: Check<JsonValue> = (value): value is JsonValue => value !== undefined; // it came out of JSON.parse

const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value);

const list =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(check);

const oneOf =
  <T extends string>(values: readonly T[]): Check<T> =>
  (value): value is T =>
    (values as readonly unknown[]).includes(value);

const object =
  <T extends object>(shape: Shape<T>): Check<T> =>
  (value): value is T =>
    isRecord(value) && hasShape(shape, value);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasShape = (shape: Readonly<Record<string, Check<unknown>>>, value: Record<string, unknown>): boolean =>
  Object.entries(shape).every(([key, check]) => Object.hasOwn(value, key) && check(value[key]));

const envelope: Shape<Omit<Envelope, 'cut'>> = {
  sequence: count,
  atMs: number,
  sessionId: text,
  runId: nullable(text),
};
const isCut = object<Cut>({ characters: count, items: count });

const verbCount = object<VerbCount>({ verb: text, count, refused: count, failed: count, errors: count });
const difference = object<CountDifference>({ counter: text, transcript: count, guest: count });
const census: Shape<Census> = {
  verbs: list(verbCount),
  neverUsed: list(text),
  modelTurns: count,
  differences: list(difference),
};

/** What a line of each type must hold. The type makes it an error to forget a property of a body. */
const bodies: { readonly [T in EntryType]: Shape<EntryBodies[T]> } = {
  session_opened: { formatVersion: count, project: text, image: text, machineId: text },
  run_started: { prompt: text, model: nullable(text) },
  plan_recorded: { steps: list(text) },
  model_turn: { text, tokens: nullable(object<TokenCount>({ input: count, output: count })) },
  verb: {
    callId: text,
    verb: text,
    arguments: json,
    startedAtMs: number,
    durationMs: number,
    outcome: oneOf(VERB_OUTCOMES),
    summary: text,
    bytes: count,
  },
  confirmation: {
    confirmationId: text,
    callId: text,
    question: text,
    state: oneOf(CONFIRMATION_STATES),
    by: nullable(text),
    reason: text,
  },
  host_event: { event: text, detail: text },
  verdict: {
    machineId: text,
    incarnation: count,
    class: text,
    confidence: text,
    account: text,
    deciding: list(object<VerdictQuote>({ file: text, offset: count, quote: text })),
  },
  publication: {
    commit: nullable(text),
    branch: nullable(text),
    kept: list(text),
    held: list(object<HeldFile>({ path: text, rule: text, why: text })),
    pushed: truth,
    detail: text,
  },
  run_ended: { outcome: oneOf(RUN_OUTCOMES), summary: text },
  session_closed: { reason: text },
  census,
};

/** Every type of entry, in the order in which they usually first appear. */
export const ENTRY_TYPES = Object.keys(bodies) as readonly EntryType[];

const isEntryType = (value: unknown): value is EntryType => typeof value === 'string' && Object.hasOwn(bodies, value);

/**
 * The entry that a parsed line holds, with properties of a later format left out; or the reason it is none.
 * `unknown_type` is a well-formed line of a type that this version does not know.
 */
export function entryFrom(value: unknown): TranscriptEntry | 'malformed' | 'unknown_type' {
  if (!isRecord(value) || !hasShape(envelope, value) || typeof value['type'] !== 'string') return 'malformed';
  const type = value['type'];
  if (!isEntryType(type)) return 'unknown_type';
  if (!hasShape(bodies[type], value)) return 'malformed';
  const keys = ['type', ...Object.keys(envelope), ...Object.keys(bodies[type])];
  const known = Object.fromEntries(keys.map((key) => [key, value[key]]));
  if (isCut(value['cut'])) known['cut'] = value['cut'];
  return known as unknown as TranscriptEntry;
}
