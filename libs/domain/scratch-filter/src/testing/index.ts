export { CORPUS } from './corpus';
export { SCRATCH_FAMILIES, type CorpusProject, type HeldLabels, type ScratchFamily } from './corpus-project';
export {
  evaluateCorpus,
  evaluateFamilies,
  heldLabels,
  heldOf,
  treeOf,
  type CorpusMistake,
  type CorpusScore,
} from './evaluate-corpus';
