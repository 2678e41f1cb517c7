import { compilePathGlob, matchesName, matchesPath, type PathGlob } from './glob';
import type { Convention, DerivedFileRule, FileContent, FileNameRule, Place, ScratchRule } from './scratch-rule';
import { ancestorsOf, baseName, KEEPERS, parentOf, type TreeEntry, type TreeView } from './tree';

/** One entry, with what several rules need of it. */
export interface Subject {
  readonly entry: TreeEntry;
  readonly tree: TreeView;
  /** Decodes the first bytes when a rule asks for them. */
  readonly content: () => FileContent;
}

/** Decides whether a rule matches an entry, conventions of the project included. */
export type RuleMatcher = (subject: Subject) => boolean;

const FIXTURE_DIRECTORIES: ReadonlySet<string> = new Set([
  'fixtures',
  'fixture',
  '__fixtures__',
  'testdata',
  'test-data',
  'test_data',
  'golden',
  'goldens',
  'samples',
  'corpus',
  '__snapshots__',
  'snapshots',
]);

const TEST_DIRECTORIES: ReadonlySet<string> = new Set([
  'tests',
  'test',
  '__tests__',
  'spec',
  'specs',
  'e2e',
  'integration',
  ...FIXTURE_DIRECTORIES,
]);

// Names that many directories have; below one of tests, examples or documents they hold fixtures.
const NESTED_FIXTURES: ReadonlySet<string> = new Set(['data', 'examples', 'files']);
const SHOWCASES: ReadonlySet<string> = new Set(['examples', 'docs', 'doc']);

function isAmongFixtures(path: string): boolean {
  let isShown = false;
  for (const ancestor of ancestorsOf(path)) {
    const name = baseName(ancestor).toLowerCase();
    if (FIXTURE_DIRECTORIES.has(name) || (isShown && NESTED_FIXTURES.has(name))) return true;
    isShown ||= SHOWCASES.has(name) || TEST_DIRECTORIES.has(name);
  }
  return false;
}

const isBelow = (path: string, directories: ReadonlySet<string>): boolean =>
  ancestorsOf(path).some((ancestor) => directories.has(baseName(ancestor).toLowerCase()));

function isInPlace(path: string, place: Place, tree: TreeView): boolean {
  switch (place) {
    case 'anywhere':
      return true;
    case 'outside-fixtures':
      return !isAmongFixtures(path);
    case 'project-root':
      return tree.isProjectRoot(parentOf(path)) && !isBelow(path, TEST_DIRECTORIES);
  }
}

/** Finds the pattern that a name matches; most patterns have no wildcard and cost one look-up. */
function patternFinder(patterns: readonly string[]): (name: string) => string | undefined {
  const exact = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)));
  const globs = patterns.filter((pattern) => !exact.has(pattern));
  return (name) => (exact.has(name) ? name : globs.find((glob) => matchesName(name, glob)));
}

/** The directories whose fate decides that of an entry: those above it, and itself when it is one or links to one. */
const directoriesOf = ({ path, kind }: TreeEntry): readonly string[] =>
  kind === 'file' ? ancestorsOf(path) : [...ancestorsOf(path), path];

const yieldsInside = (convention: Convention, directory: string, tree: TreeView): boolean =>
  convention === 'tracked-inside' && tree.isUsedByProject(directory);

function standsBeside(directory: string, names: readonly string[] | undefined, tree: TreeView): boolean {
  const parent = parentOf(directory);
  return names?.some((name) => tree.has(parent === '' ? name : `${parent}/${name}`)) ?? true;
}

/** A placeholder of a repository is there so that the directory is, whatever is put into it later. */
const keepsDirectory = ({ path }: TreeEntry, directory: string): boolean =>
  parentOf(path) === directory && KEEPERS.has(baseName(path));

function derivedFileMatcher({ sources, endings, convention }: DerivedFileRule): RuleMatcher {
  return ({ entry: { path, kind }, tree }) => {
    const ending = kind === 'dir' ? undefined : endings.find((candidate) => path.toLowerCase().endsWith(candidate));
    if (ending === undefined) return false;
    const stem = path.slice(0, -ending.length);
    if (stem === '' || stem.endsWith('/') || !sources.some((source) => tree.has(stem + source))) return false;
    const isTrackedSibling = (name: string): boolean => name.toLowerCase().endsWith(ending);
    return convention !== 'tracked-sibling' || !tree.trackedNamesIn(parentOf(path)).some(isTrackedSibling);
  };
}

function fileNameMatcher(rule: FileNameRule): RuleMatcher {
  const findPattern = patternFinder(rule.patterns);
  const findException = patternFinder(rule.exceptions ?? []);
  const find = (name: string): string | undefined =>
    findException(name.toLowerCase()) === undefined ? findPattern(name.toLowerCase()) : undefined;
  return ({ entry: { path, kind }, tree }) => {
    if (kind === 'dir') return false;
    const pattern = find(baseName(path));
    if (pattern === undefined || !isInPlace(path, rule.where, tree)) return false;
    return (
      rule.convention !== 'tracked-sibling' ||
      !tree.trackedNamesIn(parentOf(path)).some((name) => find(name) === pattern)
    );
  };
}

function pathMatcher(globs: readonly PathGlob[], convention: Convention): RuleMatcher {
  return ({ entry: { path, kind }, tree }) => {
    const glob = globs.find((candidate) => matchesPath(kind === 'dir' ? `${path}/` : path, candidate));
    if (glob === undefined) return false;
    const parent = parentOf(path);
    const isTrackedSibling = (name: string): boolean => matchesPath(parent === '' ? name : `${parent}/${name}`, glob);
    return convention !== 'tracked-sibling' || !tree.trackedNamesIn(parent).some(isTrackedSibling);
  };
}

/** Compiles a rule once for many entries. */
export function compileRule(rule: ScratchRule): RuleMatcher {
  switch (rule.kind) {
    case 'file-name':
      return fileNameMatcher(rule);
    case 'path':
      return pathMatcher(rule.patterns.map(compilePathGlob), rule.convention);
    case 'derived-file':
      return derivedFileMatcher(rule);
    case 'content':
      return ({ entry, tree, content }) => isInPlace(entry.path, rule.where, tree) && rule.matches(content());
    case 'directory-name': {
      const find = patternFinder(rule.patterns);
      return ({ entry, tree }) =>
        directoriesOf(entry).some(
          (directory) =>
            find(baseName(directory).toLowerCase()) !== undefined &&
            !keepsDirectory(entry, directory) &&
            isInPlace(directory, rule.where, tree) &&
            standsBeside(directory, rule.beside, tree) &&
            !yieldsInside(rule.convention, directory, tree),
        );
    }
    case 'directory-marker':
      return ({ entry, tree }) =>
        directoriesOf(entry).some(
          (directory) =>
            rule.markers.some((marker) => tree.has(`${directory}/${marker}`)) &&
            !yieldsInside(rule.convention, directory, tree),
        );
  }
}
