// What HFS+ ignores in names (git's utf8.c lists the same), and every other invisible character.
const INVISIBLE = /\p{Cf}/gu;
// What NTFS ignores at the end of a name, and the name of a stream.
const NTFS_TAIL = /(?::.*|[. ]+)$/su;
// The short name that NTFS gives `.git`.
const NTFS_SHORT_GIT = /^git~[0-9]+$/u;
const MAX_NAME_BYTES = 255; // of Linux file systems

/** What is wrong with a path out of an archive, in words that follow "it"; null when nothing is. Nothing is repaired. */
export function pathFault(path: string, maxPathBytes: number): string | null {
  if (path === '') return 'has no name';
  if (path.startsWith('/')) return 'has an absolute path';
  if (path.includes('\0')) return 'has a NUL in its name';
  // The decoder's mark for bytes that are no UTF-8. Such a name could not be reported exactly.
  if (path.includes('\ufffd')) return 'has a name that is not UTF-8';
  if (Buffer.byteLength(path) > maxPathBytes) return `has a path of more than ${maxPathBytes} bytes`;
  const names = path.split('/');
  if (names.includes('..')) return 'leaves the tree';
  if (names.includes('') || names.includes('.')) return 'has a path that is not in its shortest form';
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return `has a name of more than ${MAX_NAME_BYTES} bytes`;
  if (names.some(isDotGit)) return 'is in or is a .git, which is never taken from a guest';
  return names.some(isDotGitmodules) ? 'configures submodules, which are never taken from a guest' : null;
}

/** True for every spelling of `.git` that some file system takes for it: `.GIT`, `git~1`, `.g\u200cit`, `.git.`, `.git::$DATA`. */
export const isDotGit = (name: string): boolean =>
  name.split('\\').some((part) => plainNames(part).some((plain) => plain === '.git' || NTFS_SHORT_GIT.test(plain)));

const isDotGitmodules = (name: string): boolean =>
  name
    .split('\\')
    .some((part) =>
      plainNames(part).some((plain) => plain === '.gitmodules' || /^(?:gitmod|gi7eba)~[0-9]+$/u.test(plain)),
    );

/** The name as case-insensitive file systems see it; with and without compatibility forms such as full-width letters. */
function plainNames(name: string): readonly string[] {
  const visible = name.replace(INVISIBLE, '');
  return [visible, visible.normalize('NFKC')].map((form) => form.toLowerCase().replace(NTFS_TAIL, ''));
}

/** A path for people: printable, on one line, of bounded length. */
export function shownPath(path: string): string {
  const printable = path.replace(/[\p{C}\u2028\u2029]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
  return printable.length > 300 ? `${printable.slice(0, 300)}…` : printable;
}
