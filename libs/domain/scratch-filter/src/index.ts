export { scratchError } from './errors';
export {
  filterTree,
  ScratchFilter,
  type Classification,
  type FilterContext,
  type FilterResult,
  type HeldPath,
} from './filter-tree';
export { DEFAULT_RULES } from './rules';
export type {
  ContentRule,
  DerivedFileRule,
  DirectoryMarkerRule,
  DirectoryNameRule,
  FileContent,
  FileNameRule,
  PathRule,
  ScratchRule,
} from './scratch-rule';
export {
  MAX_SCRATCH_RULES_BYTES,
  parseScratchRules,
  readScratchRules,
  SCRATCH_RULES_PATH,
  scratchRulesTooLarge,
  type ProjectRule,
  type ScratchRules,
} from './scratch-rules';
export { FIRST_BYTES_LENGTH, type TreeEntry } from './tree';
