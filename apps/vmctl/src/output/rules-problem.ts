import { printableLine } from '@inquest/transcript';

/** Why the rules of a project were left out, and what to do: lines for people. */
export const describeRulesProblem = ({
  code,
  message,
  remediation,
}: {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
}): readonly string[] => [
  `  the project's own scratch rules were left out: ${printableLine(message)}`,
  `  [${code}] ${printableLine(remediation)}`,
];
