import { parse, YAMLError } from 'yaml';
import { hasCode } from '@inquest/kernel';
import { parseScratchRules, ScratchFilter as RuleFilter, type ScratchRules } from '@inquest/scratch-filter';
import type { ProjectRepository, ScratchFilter } from '@inquest/work-tree';

/** Where a project keeps its own scratch rules. */
const RULES_PATH = '.inquest/scratch.yaml';
const MAX_RULES_BYTES = 64 * 1024;

export interface ProjectRules {
  /** Null: the project has none that can be read. */
  readonly rules: ScratchRules | null;
  /** Why they cannot be read, for the author of the commit. */
  readonly warnings: readonly string[];
}

/**
 * The project's own rules come from its last commit: a guest that could change them in its tree would decide for itself
 * what is published. Rules that cannot be read are said and left out: a refusal would lock out the commit that mends
 * them.
 */
export async function readProjectRules(repository: ProjectRepository, signal: AbortSignal): Promise<ProjectRules> {
  const text = await repository.readFile(RULES_PATH, MAX_RULES_BYTES, signal);
  if (text === null) return { rules: null, warnings: [] };
  try {
    // Aliases can multiply without bound.
    return {
      rules: parseScratchRules(parse(text.toString('utf8'), { maxAliasCount: 0, logLevel: 'error' })),
      warnings: [],
    };
  } catch (e) {
    if (!(e instanceof YAMLError || e instanceof ReferenceError || hasCode(e, 'SCRATCH_RULES_INVALID'))) throw e;
    return {
      rules: null,
      warnings: [`The project's own scratch rules were left out: ${(e as Error).message}`.slice(0, 1024)],
    };
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
