import type { GitRun, HardenedGit } from './hardened-git';

/** One path of a commit. */
export interface ListedEntry {
  readonly mode: string;
  readonly objectId: string;
  /** Null for a submodule, whose content is elsewhere. */
  readonly sizeBytes: number | null;
  readonly path: string;
}

/** The paths of a tree that can be shown to a guest and taken back from it. */
export type TreeListing = ReadonlyMap<string, ListedEntry>;

const GITLINK_MODE = '160000';
const EMPTY: TreeListing = new Map();

/** True for an entry that only git itself may change: a submodule. */
export const isGitlink = ({ mode }: ListedEntry): boolean => mode === GITLINK_MODE;

/**
 * All paths of a commit or tree (null: nothing), except those whose names are no UTF-8: they can be named neither in a
 * report nor in an archive, so they stay as they are.
 */
export async function listTree(git: HardenedGit, treeish: string | null, options: GitRun): Promise<TreeListing> {
  if (treeish === null) return EMPTY;
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '--long', '--full-tree', treeish], options);
  const listing = new Map<string, ListedEntry>();
  for (let start = 0; start < stdout.length;) {
    const end = stdout.indexOf(0, start);
    const entry = parseLine(stdout.subarray(start, end));
    if (entry !== null) listing.set(entry.path, entry);
    start = end + 1;
  }
  return listing;
}

/** `<mode> SP <type> SP <object> SP+ <size> TAB <path>`, see git-ls-tree(1). */
function parseLine(line: Buffer): ListedEntry | null {
  const tab = line.indexOf('\t');
  const [mode = '', , objectId = '', size = '-'] = line.subarray(0, tab).toString('latin1').split(/ +/);
  const name = line.subarray(tab + 1);
  const path = name.toString('utf8');
  if (!Buffer.from(path).equals(name)) return null;
  return { mode, objectId, sizeBytes: size === '-' ? null : Number(size), path };
}
