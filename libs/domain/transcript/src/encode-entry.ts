import { BoundedCopy, type Bounds } from './bounded';
import type { EntryType, JsonValue, TranscriptEntry } from './entry';
import { entryFrom } from './entry-shape';
import { transcriptError } from './errors';
import type { Redact } from './redactor';

/** No line is longer, its newline included, so that a reader can bound its buffer. */
export const MAX_LINE_BYTES = 64 * 1024;

const FIRST_BOUNDS: Bounds = { textLength: 8192, itemCount: 2000 };
const SMALLEST_BOUNDS: Bounds = { textLength: 16, itemCount: 8 };

// Values from closed sets and checked ids: a secret that happens to be spelled like one must not make the line unreadable.
const NEVER_REDACTED: Readonly<Partial<Record<EntryType, readonly string[]>>> = {
  verb: ['outcome'],
  confirmation: ['state'],
  run_ended: ['outcome'],
};
const ENVELOPE_KEYS = ['type', 'sequence', 'atMs', 'sessionId', 'runId'] as const;

/**
 * One JSONL line, newline included, of at most `MAX_LINE_BYTES`. Secrets are taken out of every text (and of the keys and
 * numbers of a verb's arguments) before anything is shortened, so that none is cut into a part that no longer looks like
 * it. What does not fit is shortened and said in `cut`. Throws `TRANSCRIPT_ENTRY_INVALID` when the entry lacks a property.
 */
export function encodeEntry(entry: TranscriptEntry, redact: Redact): Uint8Array {
  let bounds = FIRST_BOUNDS;
  for (;;) {
    const line = new TextEncoder().encode(`${JSON.stringify(writable(entry, redact, bounds))}\n`);
    if (line.length <= MAX_LINE_BYTES) return line;
    if (bounds.textLength <= SMALLEST_BOUNDS.textLength) {
      // Only an id of the envelope can be that long.
      throw invalid(entry, `it does not fit into ${MAX_LINE_BYTES} bytes, however much is cut`);
    }
    bounds = halved(bounds);
  }
}

const halved = ({ textLength, itemCount }: Bounds): Bounds => ({
  textLength: Math.max(SMALLEST_BOUNDS.textLength, textLength >> 1),
  itemCount: Math.max(SMALLEST_BOUNDS.itemCount, itemCount >> 1),
});

function writable(entry: TranscriptEntry, redact: Redact, bounds: Bounds): TranscriptEntry {
  const verbatim: readonly string[] = [...ENVELOPE_KEYS, ...(NEVER_REDACTED[entry.type] ?? [])];
  const copy = new BoundedCopy(redact, bounds);
  const pairs = Object.entries(entry)
    .filter(([key]) => key !== 'cut')
    .map(([key, value]): [string, JsonValue] => [
      key,
      verbatim.includes(key) ? (value as JsonValue) : key === 'arguments' ? copy.copyFree(value) : copy.copy(value),
    ]);
  const checked = entryFrom(Object.fromEntries(pairs));
  if (typeof checked === 'string') throw invalid(entry, 'a property is missing or has the wrong type');
  return copy.cut === null ? checked : { ...checked, cut: copy.cut };
}

const invalid = (entry: TranscriptEntry, why: string) =>
  transcriptError(
    'TRANSCRIPT_ENTRY_INVALID',
    `entry ${entry.sequence} of type "${entry.type}" cannot be recorded: ${why}`,
    {
      sequence: entry.sequence,
    },
  );
