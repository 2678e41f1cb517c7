import type { Census, CountDifference, Entry, TranscriptEntry, VerbCount } from './entry';

/**
 * Counts the verbs of `entries` (of a session or of one run: the caller chooses) and names those of `knownVerbs` that
 * were never called. Calls of names that are no verbs are counted too: they happened.
 */
export function takeCensus(entries: Iterable<TranscriptEntry>, knownVerbs: readonly string[]): Census {
  const counts = new Map<string, VerbCount>();
  let modelTurns = 0;
  for (const entry of entries) {
    if (entry.type === 'model_turn') modelTurns++;
    if (entry.type === 'verb') counts.set(entry.verb, counted(counts.get(entry.verb), entry));
  }
  const verbs = [...counts.values()].sort((a, b) => b.count - a.count || byName(a.verb, b.verb));
  const neverUsed = [...new Set(knownVerbs)].filter((verb) => !counts.has(verb)).sort(byName);
  return { verbs, neverUsed, modelTurns, differences: [] };
}

/**
 * The census with every counter on which the guest agent (`guestCounts`) disagrees with the transcript
 * (`transcriptCounts`). A counter that only one side has counts as zero on the other.
 */
export function withGuestCounts(
  census: Census,
  transcriptCounts: Readonly<Record<string, number>>,
  guestCounts: Readonly<Record<string, number>>,
): Census {
  const counters = [...new Set([...Object.keys(transcriptCounts), ...Object.keys(guestCounts)])].sort(byName);
  const differences: CountDifference[] = counters
    .map((counter) => ({
      counter,
      transcript: transcriptCounts[counter] ?? 0,
      guest: guestCounts[counter] ?? 0,
    }))
    .filter(({ transcript, guest }) => transcript !== guest);
  return { ...census, differences };
}

function counted(before: VerbCount | undefined, { verb, outcome }: Entry<'verb'>): VerbCount {
  const { count, refused, failed, errors } = before ?? { count: 0, refused: 0, failed: 0, errors: 0 };
  return {
    verb,
    count: count + 1,
    refused: refused + Number(outcome === 'refused'),
    failed: failed + Number(outcome === 'failed'),
    errors: errors + Number(outcome === 'error'),
  };
}

// Not localeCompare: the order must not depend on the machine that looks.
const byName = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
