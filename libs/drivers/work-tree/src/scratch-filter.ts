import type { CollectedEntry, CollectedTree, LeftOut } from './collected-tree';
import { shownPath } from './safe-path';

/** Where keys and tokens of configuration files stand. */
const FIRST_BYTES = 64 * 1024;

/** What a scratch filter is told about an entry. */
export interface FilterEntry {
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly sizeBytes: number;
  /** In the base of the session or in the project now. */
  readonly isTracked: boolean;
}

/** An entry whose turn it is. */
export interface FilterCandidate extends FilterEntry {
  /** Up to 64 KiB; only of files that are not tracked. */
  readonly firstBytes?: Uint8Array;
}

/** The rule that keeps an entry out of the commit; null: it goes in. */
export type FilterDecision = Omit<LeftOut, 'path'> | null;

/**
 * Sees the whole tree, then decides about one entry at a time: a guest's tree is larger than what may be in memory at
 * once.
 */
export type ScratchFilter = (entries: readonly FilterEntry[]) => (candidate: FilterCandidate) => FilterDecision;

/** What else decides which paths the filter is asked about, and what it is told. */
export interface FilterScope {
  readonly isSkipped: (path: string) => boolean;
  readonly isTracked: (path: string) => boolean;
}

/** Asks the filter about every entry; what was held when the tree was collected stays held. */
export async function applyFilter(
  filter: ScratchFilter,
  tree: CollectedTree,
  { isSkipped, isTracked }: FilterScope,
): Promise<{ readonly kept: ReadonlySet<string>; readonly held: readonly LeftOut[] }> {
  const entries = [...tree.entries.values()].filter((entry) => !isSkipped(entry.path));
  const told = ({ path, kind, sizeBytes }: CollectedEntry): FilterEntry => ({
    path,
    kind,
    sizeBytes,
    isTracked: isTracked(path),
  });
  const decide = filter(entries.map(told));
  const kept = new Set<string>();
  const held = [...tree.held];
  for (const entry of entries) {
    const decision = decide(await withFirstBytes(told(entry), entry, tree));
    if (decision === null) kept.add(entry.path);
    else held.push({ ...decision, path: shownPath(entry.path) });
  }
  return { kept, held: held.sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path))) };
}

async function withFirstBytes(told: FilterEntry, entry: CollectedEntry, tree: CollectedTree): Promise<FilterCandidate> {
  if (told.isTracked || told.kind === 'link') return told;
  return { ...told, firstBytes: await tree.firstBytes(entry, FIRST_BYTES) };
}
