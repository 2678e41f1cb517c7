import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { vmDriverError } from '@inquest/vm-driver';
import type { MonitorUser } from './monitor-user';

/** The part of `Stats` that decides who may do what. */
export type Ownership = Pick<Stats, 'uid' | 'gid' | 'mode'>;

const READ = 0o4;
const SEARCH = 0o1;

/** Whether mode bits give `user` this permission (one octal digit). Without supplementary groups, and blind to ACLs. */
export function permits({ uid, gid, mode }: Ownership, user: MonitorUser, permission: number): boolean {
  if (user.uid === 0) return true;
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & permission) === permission;
}

/**
 * Throws `VM_FILE_UNREADABLE`, naming the one file or directory that is in the way, unless `user` (null = this process's
 * user) can read the file.
 */
export async function checkReadable(file: string, user: MonitorUser | null): Promise<void> {
  const reader = user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const target = await realpath(file).catch((e: Error) => {
    throw unreadable(file, e.message, e);
  });
  for (const directory of new Set([...parentsOf(file), ...parentsOf(target)])) {
    const isSearchable = permits(await ownershipOf(directory, file), reader, SEARCH);
    if (!isSearchable) throw unreadable(file, `uid ${reader.uid} may not search directory ${directory}`);
  }
  if (!permits(await ownershipOf(file, file), reader, READ))
    throw unreadable(file, `uid ${reader.uid} may not read it`);
}

/** From the root down. */
function parentsOf(file: string): string[] {
  const parents: string[] = [];
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    parents.unshift(at);
    if (at === path.dirname(at)) return parents;
  }
}

async function ownershipOf(at: string, file: string): Promise<Ownership> {
  try {
    return await stat(at);
  } catch (e) {
    throw unreadable(file, (e as Error).message, e);
  }
}

const unreadable = (file: string, why: string, cause?: unknown) =>
  vmDriverError('VM_FILE_UNREADABLE', `a machine cannot use ${file}: ${why}`, { file }, cause);
