import { filterTree, type HeldPath } from '../filter-tree';
import { parseScratchRules } from '../scratch-rules';
import type { TreeEntry } from '../tree';
import { CORPUS } from './corpus';
import { SCRATCH_FAMILIES, type CorpusProject } from './corpus-project';

/** One file about which the filter and the label disagree. */
export interface CorpusMistake {
  readonly project: string;
  readonly path: string;
  readonly label: 'keep' | 'hold';
  /** The kind that the label says, for scratch that was kept; that of the rule, for a deliverable that was held. */
  readonly family: string;
  /** The rule that held a file labelled `keep`; null for scratch that was kept. */
  readonly rule: string | null;
}

/** How well the filter agrees with the labels. "Positive" is "held". */
export interface CorpusScore {
  /** How many files the labels hold. */
  readonly scratchCount: number;
  readonly heldRightlyCount: number;
  /** Of the files held, the share that is scratch: 1 when no deliverable is held. */
  readonly precision: number;
  /** Of the scratch, the share that is held: 1 when nothing slips through. */
  readonly recall: number;
  readonly mistakes: readonly CorpusMistake[];
}

/** A file that is labelled, and what the filter did with it. */
interface Judgement {
  readonly project: string;
  readonly path: string;
  /** Null: it belongs in the commit. */
  readonly labelledFamily: string | null;
  readonly rule: string | null;
}

/** The paths that the labels of a project hold. */
export const heldLabels = ({ hold }: CorpusProject): readonly string[] => Object.values(hold).flat();

/** The tree of a corpus project as the filter gets it. */
export function treeOf(project: CorpusProject): readonly TreeEntry[] {
  const { tracked, keep, contents = {} } = project;
  const encoder = new TextEncoder();
  const entry = (path: string, isTracked: boolean): TreeEntry => {
    const firstBytes = encoder.encode(contents[path] ?? '');
    return { path, kind: 'file', sizeBytes: firstBytes.length, firstBytes, isTracked };
  };
  const untracked = [...keep, ...heldLabels(project)];
  return [...tracked.map((path) => entry(path, true)), ...untracked.map((path) => entry(path, false))];
}

/** What the filter holds of a corpus project. */
export const heldOf = (project: CorpusProject): readonly HeldPath[] =>
  filterTree(treeOf(project), {
    projectRules: project.rules === undefined ? null : parseScratchRules(project.rules),
    forceInclude: project.forceInclude ?? [],
    sessionFiles: project.sessionFiles ?? [],
  }).held;

/** Runs the filter over labelled projects, by default the corpus of this library, and scores it. */
export const evaluateCorpus = (projects: readonly CorpusProject[] = CORPUS): CorpusScore =>
  scoreOf(projects.flatMap(judge));

/**
 * The score of each kind of scratch: its recall over the files that are labelled so, whichever rule held them; its
 * precision over the files that its rules held.
 */
export function evaluateFamilies(
  projects: readonly CorpusProject[] = CORPUS,
): readonly (CorpusScore & { readonly family: string })[] {
  const judgements = projects.flatMap(judge);
  return SCRATCH_FAMILIES.map((family) => {
    const own = judgements.filter(({ labelledFamily, rule }) => (labelledFamily ?? familyOf(rule)) === family);
    return { family, ...scoreOf(own) };
  });
}

function judge(project: CorpusProject): readonly Judgement[] {
  const rules = new Map(heldOf(project).map(({ path, rule }) => [path, rule]));
  const judgement = (path: string, labelledFamily: string | null): Judgement => ({
    project: project.name,
    path,
    labelledFamily,
    rule: rules.get(path) ?? null,
  });
  return [
    ...project.keep.map((path) => judgement(path, null)),
    ...Object.entries(project.hold).flatMap(([family, paths]) => paths.map((path) => judgement(path, family))),
  ];
}

function scoreOf(judgements: readonly Judgement[]): CorpusScore {
  const scratch = judgements.filter(({ labelledFamily }) => labelledFamily !== null);
  const held = judgements.filter(({ rule }) => rule !== null);
  const heldRightlyCount = scratch.filter(({ rule }) => rule !== null).length;
  return {
    scratchCount: scratch.length,
    heldRightlyCount,
    precision: share(heldRightlyCount, held.length),
    recall: share(heldRightlyCount, scratch.length),
    mistakes: judgements
      .filter(({ labelledFamily, rule }) => (labelledFamily === null) !== (rule === null))
      .map(({ project, path, labelledFamily, rule }) => ({
        project,
        path,
        label: labelledFamily === null ? 'keep' : 'hold',
        family: labelledFamily ?? familyOf(rule),
        rule,
      })),
  };
}

const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);

const familyOf = (rule: string | null): string => rule?.split('/')[0] ?? '';
