/** One file, directory or symbolic link of a collected tree. */
export interface TreeEntry {
  /** Relative to the root of the project, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'dir' | 'link';
  readonly sizeBytes: number;
  /** The start of a file, at least `FIRST_BYTES_LENGTH` of it when it has them; absent for what is no file. */
  readonly firstBytes?: Uint8Array | undefined;
  /** True when the last commit has this path. */
  readonly isTracked: boolean;
}

/** How much of a file the rules on content look at. Keys and tokens of configuration files stand near the start. */
export const FIRST_BYTES_LENGTH = 64 * 1024;

/** PATH_MAX of Linux; a longer path cannot be checked out. */
const MAX_PATH_LENGTH = 4096;

/** Files that mark the start of a project inside a tree. */
const MANIFESTS: ReadonlySet<string> = new Set([
  'package.json',
  'deno.json',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'requirements.txt',
  'Pipfile',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'Gemfile',
  'composer.json',
  'mix.exs',
  'pubspec.yaml',
]);

/** Files that only keep an otherwise empty directory in a repository. */
export const KEEPERS: ReadonlySet<string> = new Set(['.gitkeep', '.keep']);

/** Files that say nothing of what a directory is used for. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([...KEEPERS, '.gitignore', '.placeholder', 'README', 'README.md']);

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Every directory above a path, the outermost first, without the root. */
export function ancestorsOf(path: string): readonly string[] {
  const ancestors: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) ancestors.push(path.slice(0, at));
  return ancestors;
}

/** True when the path stays in its tree and can exist on a file system. */
export const isPlainPath = (path: string): boolean =>
  path.length <= MAX_PATH_LENGTH &&
  !path.includes('\0') &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');

/** What the rules ask about the whole tree. Build it once for all entries. */
export class TreeView {
  private readonly trackedNames = new Map<string, string[]>();
  private readonly usedDirectories = new Set<string>();
  private readonly manifestDirectories = new Set<string>(['']);
  private readonly paths = new Set<string>();

  constructor(entries: readonly TreeEntry[]) {
    for (const { path, kind, isTracked } of entries) {
      this.paths.add(path);
      if (kind === 'dir') continue;
      const [name, parent] = [baseName(path), parentOf(path)];
      if (MANIFESTS.has(name)) this.manifestDirectories.add(parent);
      if (isTracked) this.addTracked(path, name, parent);
    }
  }

  private addTracked(path: string, name: string, parent: string): void {
    const siblings = this.trackedNames.get(parent);
    if (siblings === undefined) this.trackedNames.set(parent, [name]);
    else siblings.push(name);
    if (PLACEHOLDERS.has(name)) return;
    for (const ancestor of ancestorsOf(path)) this.usedDirectories.add(ancestor);
  }

  has(path: string): boolean {
    return this.paths.has(path);
  }

  /** Names of the tracked files and links of one directory; the root is the empty string. */
  trackedNamesIn(directory: string): readonly string[] {
    return this.trackedNames.get(directory) ?? [];
  }

  /** True when tracked files other than placeholders stand somewhere below. */
  isUsedByProject(directory: string): boolean {
    return this.usedDirectories.has(directory);
  }

  /** True for the root and for directories with a manifest. */
  isProjectRoot(directory: string): boolean {
    return this.manifestDirectories.has(directory);
  }
}
