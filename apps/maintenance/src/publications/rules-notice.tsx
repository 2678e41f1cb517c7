import type { PublicationView } from '@inquest/contracts-publish';
import { printable } from '@inquest/transcript';

/** That the project's own scratch rules had no part in what was held back, and what to do about them. */
export function RulesNotice({ problem }: { readonly problem: PublicationView['rulesProblem'] }) {
  if (problem === null) return null;
  return (
    <div className="notice" data-tone="bad">
      <p className="notice-title">The project’s own scratch rules were left out</p>
      <p className="wrap">{printable(problem.message)}</p>
      <p>{problem.remediation}</p>
    </div>
  );
}
