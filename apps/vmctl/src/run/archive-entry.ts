import path from 'node:path';

/** What a tar archive says about one entry. */
interface ArchiveEntry {
  readonly type: string;
  readonly linkpath?: string | undefined;
}

const PLAIN_TYPES: readonly string[] = ['File', 'OldFile', 'ContiguousFile', 'Directory'];

/**
 * Whether an entry of an archive from a guest may be unpacked: files and directories, and links that stay inside the
 * copy wherever it is put. The unpacker itself refuses names that leave its directory.
 */
export function isFitToUnpack(name: string, { type, linkpath = '' }: ArchiveEntry): boolean {
  if (PLAIN_TYPES.includes(type)) return true;
  if (type !== 'SymbolicLink' && type !== 'Link') return false;
  if (linkpath === '' || path.posix.isAbsolute(linkpath)) return false;
  // A hard link names its target from the top of the archive, a symbolic link from where it stands.
  const target = type === 'Link' ? linkpath : path.posix.join(path.posix.dirname(name), linkpath);
  return path.posix.normalize(target).split('/')[0] !== '..';
}
