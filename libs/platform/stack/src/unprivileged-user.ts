import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ProcessUser } from '@inquest/process';

/** In order of preference. Postgres needs an entry in the user database; every Debian has `nobody`. */
const CANDIDATES = ['postgres', 'nobody'];

/** The user that Postgres, which refuses root, runs as; null when this process is not root and needs none. */
export async function unprivilegedUser(): Promise<ProcessUser | null> {
  if (process.getuid?.() !== 0) return null;
  const passwd = await readFile('/etc/passwd', 'utf8');
  return pickUser(passwd);
}

/** Uid and gid of the preferred user in the text of /etc/passwd, passwd(5). */
export function pickUser(passwd: string): ProcessUser {
  const rows = passwd.split('\n').map((line) => line.split(':'));
  for (const name of CANDIDATES) {
    const row = rows.find(([entry]) => entry === name);
    if (row) return { uid: Number(row[2]), gid: Number(row[3]) };
  }
  return { uid: 65_534, gid: 65_534 };
}

/** The first directory on the way to `target` (or `target` itself) that `user` may not enter; null when it can get there. */
export async function findBarrier(target: string, user: ProcessUser): Promise<string | null> {
  const directories: string[] = [];
  for (let at = path.resolve(target); ; at = path.dirname(at)) {
    directories.unshift(at);
    if (at === path.dirname(at)) break;
  }
  for (const directory of directories) {
    if (!canEnter(await stat(directory), user)) return directory;
  }
  return null;
}

function canEnter(
  entry: { readonly uid: number; readonly gid: number; readonly mode: number },
  user: ProcessUser,
): boolean {
  if (entry.uid === user.uid) return (entry.mode & 0o100) !== 0;
  if (entry.gid === user.gid) return (entry.mode & 0o010) !== 0;
  return (entry.mode & 0o001) !== 0;
}
