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
  DirectoryMarkerRule,
  DirectoryNameRule,
  FileContent,
  FileNameRule,
  PathRule,
  ScratchRule,
} from './scratch-rule';
export { parseScratchRules, type ProjectRule, type ScratchRules } from './scratch-rules';
export { FIRST_BYTES_LENGTH, type TreeEntry } from './tree';
