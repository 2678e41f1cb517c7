import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Trees that tell of the host or steer it; nothing in them is anybody's work. */
const SYSTEM_TREES = ['/boot', '/dev', '/etc', '/proc', '/run', '/sys'];
/** The bits of a directory in which everybody leaves things, such as /tmp: for all to write, only the owner to remove. */
const FOR_EVERYBODYS_THINGS = 0o1002;

/** What decides whether a directory may be shown to a guest. */
export interface DirectoryFacts {
  /** Absolute, without links. */
  readonly directory: string;
  readonly mode: number;
  /** The state directory of this platform, without links. */
  readonly platformHome: string;
  /** Home directories of the host's users. */
  readonly userHomes: readonly string[];
}

/** Why no guest may see the directory, as the end of a sentence about it; null when it may. */
export function whyPrivate({ directory, mode, platformHome, userHomes }: DirectoryFacts): string | null {
  if (directory === '/') return 'is the whole host';
  const system = SYSTEM_TREES.find((tree) => isWithin(directory, tree));
  if (system !== undefined) return `is part of the system (${system})`;
  if (isWithin(directory, platformHome) || isWithin(platformHome, directory)) return 'holds state of this platform';
  const home = userHomes.find((candidate) => isWithin(candidate, directory));
  if (home !== undefined) return home === directory ? 'is a home directory' : `holds the home directory ${home}`;
  const hidden = userHomes.find((candidate) => isWithin(directory, candidate) && isHidden(directory, candidate));
  if (hidden !== undefined) return `is a hidden directory of the home ${hidden}, where programs keep secrets`;
  return (mode & FOR_EVERYBODYS_THINGS) === FOR_EVERYBODYS_THINGS ? 'is where everybody leaves temporary files' : null;
}

/** The homes that /etc/passwd names, passwd(5), but `/`, which some users of the system have. */
export async function readUserHomes(passwdFile = '/etc/passwd'): Promise<string[]> {
  const passwd = await readFile(passwdFile, 'utf8');
  const homes = passwd.split('\n').map((line) => line.split(':')[5] ?? '');
  return [...new Set(homes.filter((home) => path.isAbsolute(home) && home !== '/').map((home) => path.resolve(home)))];
}

const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

const isHidden = (directory: string, home: string): boolean => path.relative(home, directory).startsWith('.');
