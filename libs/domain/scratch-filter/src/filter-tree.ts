import { compilePathGlob, matchesPath } from './glob';
import { compileRule, type RuleMatcher, type Subject } from './rule-matcher';
import { DEFAULT_RULES } from './rules';
import type { FileContent, ScratchRule } from './scratch-rule';
import type { ProjectRule, ScratchRules } from './scratch-rules';
import { FIRST_BYTES_LENGTH, isPlainPath, TreeView, type TreeEntry } from './tree';

/** What one commit knows besides the tree. */
export interface FilterContext {
  /** The project's own rules, from its last commit; null when it has none. */
  readonly projectRules: ScratchRules | null;
  /**
   * Paths and globs that this commit takes whatever the rules say. A secret is only let through by its exact path: a
   * glob that was meant for something else must not publish a key.
   */
  readonly forceInclude: readonly string[];
  /** Paths that the session's verbs wrote for its own use: screenshots, plans. Held whatever their names. */
  readonly sessionFiles?: readonly string[];
}

/** A path that is not committed. */
export interface HeldPath {
  readonly path: string;
  /** Stable name of the rule, `family/name`. */
  readonly rule: string;
  /** One sentence for the reader of a report. */
  readonly why: string;
}

/** Whether one entry goes into the commit. */
export type Classification =
  { readonly isKept: true } | { readonly isKept: false; readonly rule: string; readonly why: string };

/** What goes into the commit, and what is held back. Every entry is in exactly one list; both are sorted by path. */
export interface FilterResult {
  readonly kept: readonly string[];
  readonly held: readonly HeldPath[];
}

const KEPT: Classification = { isKept: true };

const hold = (rule: string, why: string): Classification => ({ isKept: false, rule, why });

interface CompiledRule {
  readonly rule: ScratchRule;
  readonly matches: RuleMatcher;
}

const DEFAULTS: readonly CompiledRule[] = DEFAULT_RULES.map((rule) => ({ rule, matches: compileRule(rule) }));

const SECRETS = DEFAULTS.filter(({ rule }) => rule.id.startsWith('secret/'));

/** A tree and a context, prepared for classifying many entries. */
export class ScratchFilter {
  private readonly tree: TreeView;
  private readonly forcedPaths: ReadonlySet<string>;
  private readonly isForced: (path: string) => boolean;
  private readonly sessionFiles: ReadonlySet<string>;
  private readonly findKeep: (path: string) => ProjectRule | undefined;
  private readonly findHold: (path: string) => ProjectRule | undefined;

  constructor(entries: readonly TreeEntry[], { projectRules, forceInclude, sessionFiles = [] }: FilterContext) {
    this.tree = new TreeView(entries);
    this.forcedPaths = new Set(forceInclude);
    const forced = projectRuleFinder(forceInclude.flatMap(asForcedRules));
    this.isForced = (path) => forced(path) !== undefined;
    this.sessionFiles = new Set(sessionFiles);
    this.findKeep = projectRuleFinder(projectRules?.keep ?? []);
    this.findHold = projectRuleFinder(projectRules?.hold ?? []);
  }

  /**
   * Decides about one entry of the tree. Tracked files are always kept. Then the first that applies: an exact forced
   * path, the project's `keep`, a forced glob, a file of the session, the project's `hold`, the default rules.
   */
  classifyPath(entry: TreeEntry): Classification {
    const { path } = entry;
    if (entry.isTracked) return KEPT;
    if (!isPlainPath(path)) return hold('path/invalid', 'The path leaves the project or cannot exist.');
    if (this.forcedPaths.has(path) || this.findKeep(path) !== undefined) return KEPT;
    const subject: Subject = { entry, tree: this.tree, content: lazyContent(entry) };
    if (this.isForced(path)) return classifyBy(SECRETS, subject);
    if (this.sessionFiles.has(path)) return hold('session/file', 'The session wrote it for its own use.');
    const projectHold = this.findHold(path);
    if (projectHold !== undefined) return hold('project/hold', whyOf(projectHold));
    return classifyBy(DEFAULTS, subject);
  }
}

function classifyBy(rules: readonly CompiledRule[], subject: Subject): Classification {
  const found = rules.find(({ matches }) => matches(subject))?.rule;
  return found === undefined ? KEPT : hold(found.id, found.why);
}

function projectRuleFinder(rules: readonly ProjectRule[]): (path: string) => ProjectRule | undefined {
  const compiled = rules.map((rule) => ({ rule, glob: compilePathGlob(rule.pattern) }));
  return (path) => compiled.find(({ glob }) => matchesPath(path, glob))?.rule;
}

// A forced directory takes what is below it.
const asForcedRules = (pattern: string): readonly ProjectRule[] => [
  { pattern, why: null },
  { pattern: `${pattern.replace(/\/$/, '')}/`, why: null },
];

const whyOf = ({ pattern, why }: ProjectRule): string => why ?? `The project's rules hold \`${pattern}\`.`;

const LATIN1 = new TextDecoder('latin1');

function lazyContent({ firstBytes = new Uint8Array() }: TreeEntry): () => FileContent {
  let content: FileContent | null = null;
  return () => {
    const bytes = firstBytes.subarray(0, FIRST_BYTES_LENGTH);
    return (content ??= { bytes, text: LATIN1.decode(bytes).replaceAll('\0', '') });
  };
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** Splits a collected tree into what is committed and what is held back. Pure; the order of the entries has no effect. */
export function filterTree(entries: readonly TreeEntry[], context: FilterContext): FilterResult {
  const filter = new ScratchFilter(entries, context);
  const kept: string[] = [];
  const held: HeldPath[] = [];
  for (const entry of [...entries].sort(byPath)) {
    const classification = filter.classifyPath(entry);
    if (classification.isKept) kept.push(entry.path);
    else held.push({ path: entry.path, rule: classification.rule, why: classification.why });
  }
  return { kept, held };
}
