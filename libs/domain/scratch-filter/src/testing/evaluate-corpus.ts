import { filterTree, type HeldPath } from '../filter-tree';
import { parseScratchRules } from '../scratch-rules';
import type { TreeEntry } from '../tree';
import { CORPUS } from './corpus';
import type { CorpusProject } from './corpus-project';

/** One file about which the filter and the label disagree. */
export interface CorpusMistake {
  readonly project: string;
  readonly path: string;
  readonly label: 'keep' | 'hold';
  /** The rule that held a file labelled `keep`; null for scratch that was kept. */
  readonly rule: string | null;
}

/** How well the filter agrees with the labels. "Positive" is "held". */
export interface CorpusScore {
  readonly heldRightlyCount: number;
  /** Of the files held, the share that is scratch: 1 when no deliverable is held. */
  readonly precision: number;
  /** Of the scratch, the share that is held: 1 when nothing slips through. */
  readonly recall: number;
  readonly mistakes: readonly CorpusMistake[];
}

/** The tree of a corpus project as the filter gets it. */
export function treeOf({ tracked, keep, hold, contents = {} }: CorpusProject): readonly TreeEntry[] {
  const encoder = new TextEncoder();
  const entry = (path: string, isTracked: boolean): TreeEntry => {
    const firstBytes = encoder.encode(contents[path] ?? '');
    return { path, kind: 'file', sizeBytes: firstBytes.length, firstBytes, isTracked };
  };
  return [...tracked.map((path) => entry(path, true)), ...[...keep, ...hold].map((path) => entry(path, false))];
}

/** What the filter holds of a corpus project. */
export const heldOf = (project: CorpusProject): readonly HeldPath[] =>
  filterTree(treeOf(project), {
    projectRules: project.rules === undefined ? null : parseScratchRules(project.rules),
    forceInclude: project.forceInclude ?? [],
    sessionFiles: project.sessionFiles ?? [],
  }).held;

function mistakesIn(project: CorpusProject): readonly CorpusMistake[] {
  const rules = new Map(heldOf(project).map(({ path, rule }) => [path, rule]));
  const mistake = (path: string, label: 'keep' | 'hold'): CorpusMistake => ({
    project: project.name,
    path,
    label,
    rule: rules.get(path) ?? null,
  });
  return [
    ...project.keep.filter((path) => rules.has(path)).map((path) => mistake(path, 'keep')),
    ...project.hold.filter((path) => !rules.has(path)).map((path) => mistake(path, 'hold')),
  ];
}

/** Runs the filter over labelled projects, by default the corpus of this library, and scores it. */
export function evaluateCorpus(projects: readonly CorpusProject[] = CORPUS): CorpusScore {
  const mistakes = projects.flatMap(mistakesIn);
  const scratchCount = projects.reduce((count, { hold }) => count + hold.length, 0);
  const missedCount = mistakes.filter(({ label }) => label === 'hold').length;
  const heldRightlyCount = scratchCount - missedCount;
  const heldCount = heldRightlyCount + mistakes.length - missedCount;
  return {
    heldRightlyCount,
    precision: heldCount === 0 ? 1 : heldRightlyCount / heldCount,
    recall: scratchCount === 0 ? 1 : heldRightlyCount / scratchCount,
    mistakes,
  };
}
