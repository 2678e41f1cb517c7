import type { CollectedEntry, CollectedTree } from './collected-tree';
import { workTreeError } from './errors';
import { shownPath } from './safe-path';
import { isGitlink, type ListedEntry, type TreeListing } from './tree-listing';

const MAX_NAMED_CONFLICTS = 10;

/** What one commit does to paths. */
export interface TreeChanges {
  /** New or different, by path. */
  readonly written: ReadonlyMap<string, CollectedEntry>;
  readonly deleted: readonly string[];
}

/**
 * How `collected` differs from `base`, of which it is a later state. Only paths in `kept` are written. What was held or
 * refused stays as it is in `base`, neither written nor deleted.
 */
export function changesSince(base: TreeListing, collected: CollectedTree, kept: ReadonlySet<string>): TreeChanges {
  const written = new Map<string, CollectedEntry>();
  for (const [path, entry] of collected.entries) {
    if (kept.has(path) && !isSame(base.get(path), entry)) written.set(path, entry);
  }
  const deleted = [...base.values()]
    .filter(
      (entry) => !isGitlink(entry) && !collected.entries.has(entry.path) && !collected.leftOutPaths.has(entry.path),
    )
    .map(({ path }) => path);
  return { written, deleted };
}

/** Paths that would take the place of a submodule, or lie in one: those belong to another repository. */
export function insideSubmodules(base: TreeListing, collected: CollectedTree): ReadonlySet<string> {
  const submodules = new Set([...base.values()].filter(isGitlink).map(({ path }) => path));
  if (submodules.size === 0) return submodules;
  const isInside = (path: string): boolean => [path, ...parentsOf(path)].some((level) => submodules.has(level));
  return new Set([...collected.entries.keys()].filter(isInside));
}

/**
 * Throws `COMMIT_CONFLICT`, naming paths, when `head` no longer has at the changed paths what `base` had, or has a file
 * where a changed path needs a directory, or the reverse.
 */
export function checkConflicts(base: TreeListing, head: TreeListing, changes: TreeChanges): void {
  const touched = [...changes.written.keys(), ...changes.deleted];
  const moved = touched.filter((path) => !isUntouched(base.get(path), head.get(path), changes.written.get(path)));
  const conflicts = [...moved, ...blocked(head, changes)];
  if (conflicts.length === 0) return;
  const named = conflicts.slice(0, MAX_NAMED_CONFLICTS).map(shownPath).join(', ');
  const more = conflicts.length - MAX_NAMED_CONFLICTS;
  const shown = more > 0 ? `${named} and ${more} more` : named;
  throw workTreeError('COMMIT_CONFLICT', `the project changed meanwhile at ${shown}`, { conflicts: conflicts.length });
}

const isSame = (a: ListedEntry | undefined, b: Pick<CollectedEntry, 'mode' | 'objectId'> | undefined): boolean =>
  a?.mode === b?.mode && a?.objectId === b?.objectId;

function isUntouched(
  base: ListedEntry | undefined,
  head: ListedEntry | undefined,
  wanted: CollectedEntry | undefined,
): boolean {
  return (base?.mode === head?.mode && base?.objectId === head?.objectId) || isSame(head, wanted);
}

/** Paths to be written that have a file of `head` above or below them. */
function blocked(head: TreeListing, { written, deleted }: TreeChanges): readonly string[] {
  const gone = new Set(deleted);
  const staying = [...head.keys()].filter((path) => !gone.has(path));
  const files = new Set(staying);
  const directories = new Set(staying.flatMap(parentsOf));
  return [...written.keys()].filter(
    (path) => directories.has(path) || parentsOf(path).some((parent) => files.has(parent)),
  );
}

/** `a/b/c` -> `a`, `a/b`. */
function parentsOf(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}
