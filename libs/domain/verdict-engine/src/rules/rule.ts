import type { Citation } from '../citation';
import type { CaseFacts } from '../facts/case-facts';
import type { Blame, Confidence, VerdictClass } from '../verdict';

/** What a rule that applies has to say. */
export interface Finding {
  readonly class: VerdictClass;
  /** Before missing evidence lowers it. */
  readonly confidence: Confidence;
  readonly account: string;
  readonly deciding: readonly Citation[];
  readonly contributing?: readonly Citation[];
  readonly blame: Blame;
  readonly ended: boolean;
  /** The console, or its silence, took part in the decision: bytes missing from it lower the confidence. */
  readonly readsConsole: boolean;
}

/** One small reason to give one verdict. Rules are tried in order; the first that finds something decides. */
export interface Rule {
  readonly name: string;
  /** A finding, or null when the rule does not apply. Never throws. */
  readonly find: (facts: CaseFacts) => Finding | null;
}

/** The citations that exist. */
export function present(...citations: readonly (Citation | null | undefined)[]): readonly Citation[] {
  return citations.filter((citation): citation is Citation => citation !== null && citation !== undefined);
}
