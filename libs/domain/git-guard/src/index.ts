export { explainRefusal } from './explain-refusal';
export { guardGit } from './guard-git';
export type { GuardVerdict, NoWriteVerdict, ScriptPosition, WriteVerdict } from './guard-verdict';
export { MAX_SCRIPT_LENGTH } from './text-budget';
