/** When a rule gives way to the habits of the project, which its tracked files show. */
export type Convention =
  /** Never: a virtual environment or a secret stays out whatever the project does. */
  | 'none'
  /** When a tracked file of the same directory matches the same pattern: `test_*.py` beside tracked ones. */
  | 'tracked-sibling'
  /** When the matched directory holds tracked files other than placeholders: the project keeps things there. */
  | 'tracked-inside';

/** Where in a tree a rule looks. */
export type Place =
  | 'anywhere'
  /** At the top, or beside a manifest such as package.json, but not in a tree of tests. */
  | 'project-root'
  /** Not below a directory of fixtures, where every kind of file may be a deliverable. */
  | 'outside-fixtures';

interface RuleBase {
  /** Stable name of the rule in reports, `family/name`, at most 128 characters. */
  readonly id: string;
  /** One sentence for the reader of a report: what such files are. */
  readonly why: string;
}

/** Matches the last part of a path: for files and links. Patterns are compared without regard to case. */
export interface FileNameRule extends RuleBase {
  readonly kind: 'file-name';
  readonly where: Place;
  readonly patterns: readonly string[];
  /** Names that match a pattern and are no scratch. */
  readonly exceptions?: readonly string[];
  readonly convention: Convention;
}

/** Matches one directory name of a path, and with it everything below. */
export interface DirectoryNameRule extends RuleBase {
  readonly kind: 'directory-name';
  readonly where: Place;
  readonly patterns: readonly string[];
  /** Only where a file of one of these names stands beside the directory. Default: everywhere. */
  readonly beside?: readonly string[];
  readonly convention: Convention;
}

/** Matches a directory that holds one of the markers, and with it everything below. */
export interface DirectoryMarkerRule extends RuleBase {
  readonly kind: 'directory-marker';
  readonly markers: readonly string[];
  readonly convention: Convention;
}

/** Matches whole paths, with the globs that project rules use. */
export interface PathRule extends RuleBase {
  readonly kind: 'path';
  readonly patterns: readonly string[];
  readonly convention: Convention;
}

/** The start of a file, in the two forms that rules look at. */
export interface FileContent {
  readonly bytes: Uint8Array;
  /** One character for each byte that is not NUL, so that UTF-16 text reads like ASCII. */
  readonly text: string;
}

/** Matches what a file holds, by its first bytes. */
export interface ContentRule extends RuleBase {
  readonly kind: 'content';
  readonly where: Place;
  /** True when the content has the shape. Takes time linear in its length. */
  readonly matches: (content: FileContent) => boolean;
}

/** Matches a file that a tool makes from another one: it stands beside that one and has its stem. */
export interface DerivedFileRule extends RuleBase {
  readonly kind: 'derived-file';
  /** Endings of the files that it is made from. */
  readonly sources: readonly string[];
  /** Endings of what is made, in place of those. */
  readonly endings: readonly string[];
  readonly convention: Convention;
}

export type ScratchRule =
  DerivedFileRule | FileNameRule | DirectoryNameRule | DirectoryMarkerRule | PathRule | ContentRule;
