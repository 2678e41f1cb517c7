import type { VerdictView } from '@inquest/contracts-vm';
import type { Verdict } from '@inquest/verdict-engine';

/** The verdict as it travels. */
export const verdictView = (verdict: Verdict): VerdictView => ({
  class: verdict.class,
  confidence: verdict.confidence,
  account: verdict.account,
  blame: verdict.blame,
  ended: verdict.ended,
  boots: verdict.boots,
  deciding: [...verdict.deciding],
  contributing: [...verdict.contributing],
  warnings: [...verdict.warnings],
});
