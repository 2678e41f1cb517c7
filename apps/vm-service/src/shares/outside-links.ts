import { opendir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { MAX_NAMED_LINKS } from '@inquest/contracts-vm';

/** Entries that are looked at: a second or two. A directory that has more is shared all the same. */
const MAX_ENTRIES = 50_000;

/** Of a link's path in a view. */
const MAX_LINK_CHARS = 256;

/** What was found of symbolic links that lead out of a directory. */
export interface OutsideLinks {
  readonly outsideLinks: number;
  /** The first of them, relative to the directory. */
  readonly namedLinks: string[];
  /** False when the directory has more entries than are looked at, or one that cannot be read. */
  readonly isFullyLookedAt: boolean;
}

/**
 * Looks for links that a guest would not find where the host does: absolute ones, and those that lead above the
 * directory. Follows none. Never rejects: what cannot be read, the guest cannot read either.
 */
export async function findOutsideLinks(directory: string): Promise<OutsideLinks> {
  const found: string[] = [];
  const open = [directory];
  let entries = 0;
  let isFullyLookedAt = true;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const content = await opendir(at).catch(() => null);
    if (content === null) isFullyLookedAt = false;
    for await (const entry of content ?? []) {
      if (++entries > MAX_ENTRIES) return summary(directory, found, false);
      const file = path.join(at, entry.name);
      if (entry.isDirectory()) open.push(file);
      if (entry.isSymbolicLink() && (await leadsOut(directory, file))) found.push(file);
    }
  }
  return summary(directory, found, isFullyLookedAt);
}

async function leadsOut(directory: string, link: string): Promise<boolean> {
  const target = await readlink(link).catch(() => '');
  if (path.isAbsolute(target)) return true;
  const resolved = path.resolve(path.dirname(link), target);
  return resolved !== directory && !resolved.startsWith(`${directory}/`);
}

const summary = (directory: string, found: readonly string[], isFullyLookedAt: boolean): OutsideLinks => ({
  outsideLinks: found.length,
  namedLinks: found.slice(0, MAX_NAMED_LINKS).map((file) => path.relative(directory, file).slice(0, MAX_LINK_CHARS)),
  isFullyLookedAt,
});
