export { CORPUS } from './corpus';
export type { CorpusProject } from './corpus-project';
export { evaluateCorpus, heldOf, treeOf, type CorpusMistake, type CorpusScore } from './evaluate-corpus';
