import { errorView, type ErrorView } from '@inquest/contracts-base';
import { isDomainError } from '@inquest/kernel';
import {
  MAX_SCRATCH_RULES_BYTES,
  readScratchRules,
  SCRATCH_RULES_PATH,
  ScratchFilter as RuleFilter,
  scratchError,
  scratchRulesTooLarge,
  type ScratchRules,
} from '@inquest/scratch-filter';
import type { ProjectRepository, ReadFile, ScratchFilter } from '@inquest/work-tree';

export interface ProjectRules {
  /** Null: the project has none that can be read. */
  readonly rules: ScratchRules | null;
  /** Why they cannot be read: a `SCRATCH_RULES_*` code. Null: they can, or there are none. */
  readonly problem: ErrorView | null;
}

/**
 * The project's own rules come from its last commit: a guest that could change them in its tree would decide for itself
 * what is published. Rules that cannot be read are said and left out: a refusal would lock out the commit that mends
 * them.
 */
export async function readProjectRules(repository: ProjectRepository, signal: AbortSignal): Promise<ProjectRules> {
  const file = await repository.readFile(SCRATCH_RULES_PATH, MAX_SCRATCH_RULES_BYTES, signal);
  if (file === null) return { rules: null, problem: null };
  try {
    return { rules: readScratchRules(textOf(file)), problem: null };
  } catch (e) {
    if (!isDomainError(e) || !e.code.startsWith('SCRATCH_RULES_')) throw e;
    return { rules: null, problem: errorView(e) };
  }
}

function textOf(file: ReadFile): string {
  switch (file.kind) {
    case 'content':
      return file.bytes.toString('utf8');
    case 'too-large':
      throw scratchRulesTooLarge(file.sizeBytes);
    case 'no-regular-file':
      throw scratchError('SCRATCH_RULES_INVALID', `${SCRATCH_RULES_PATH} is not valid: it is no regular file.`);
  }
}

/** The filter of one commit: the project's rules, the default ones, and what this commit takes whatever they say. */
export function scratchFilter(projectRules: ScratchRules | null, forceInclude: readonly string[]): ScratchFilter {
  return (entries) => {
    const filter = new RuleFilter(entries, { projectRules, forceInclude });
    return (candidate) => {
      const decision = filter.classifyPath(candidate);
      return decision.isKept ? null : { rule: decision.rule, why: decision.why };
    };
  };
}
