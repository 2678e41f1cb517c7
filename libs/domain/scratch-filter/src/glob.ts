/**
 * Matches one name against a pattern in which `*` stands for any characters and `?` for one. Takes time linear in
 * name length times pattern length for any input; there is no backtracking over more than the last `*`.
 */
export function matchesName(name: string, pattern: string): boolean {
  let n = 0;
  let p = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (n < name.length) {
    if (pattern.charAt(p) === '*') {
      starAt = p++;
      resumeAt = n;
    } else if (p < pattern.length && (pattern.charAt(p) === '?' || pattern.charAt(p) === name.charAt(n))) {
      p++;
      n++;
    } else if (starAt >= 0) {
      p = starAt + 1;
      n = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern.charAt(p) === '*') p++;
  return p === pattern.length;
}

/** A path glob that was taken apart once. */
export interface PathGlob {
  readonly segments: readonly string[];
}

/**
 * Takes a path glob apart. `*` and `?` stay inside one name, `**` stands for any number of directories. A pattern
 * without a slash matches the name at any depth; one that ends in a slash matches everything below the directory.
 */
export function compilePathGlob(pattern: string): PathGlob {
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const segments = (pattern.endsWith('/') ? `${pattern}**` : pattern).split('/').filter((segment) => segment !== '');
  return { segments: isAnchored || segments[0] === '**' ? segments : ['**', ...segments] };
}

/** True when the whole path matches. Takes time linear in path length times glob length. */
export function matchesPath(path: string, { segments }: PathGlob): boolean {
  const names = path.split('/');
  let n = 0;
  let s = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (n < names.length) {
    const segment = segments[s];
    if (segment === '**') {
      starAt = s++;
      resumeAt = n;
    } else if (segment !== undefined && matchesName(names[n] ?? '', segment)) {
      s++;
      n++;
    } else if (starAt >= 0) {
      s = starAt + 1;
      n = ++resumeAt;
    } else {
      return false;
    }
  }
  while (segments[s] === '**') s++;
  return s === segments.length;
}
