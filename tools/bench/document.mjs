// docs/performance.md, made of one run.
import { GOALS, table } from './figures.mjs';

/** @param {{conditions: object, figures: object[]}} report */
export function performanceDocument({ conditions, figures }) {
  const facts = Object.entries(conditions).map(
    ([name, value]) => `- ${name}: ${Array.isArray(value) ? value.join(' ') : value}`,
  );
  const meanings = GOALS.map(({ name, meaning }) => `- \`${name}\`: ${meaning}.`);
  return `# Performance

Made by \`npm run bench -- --document\`; not to be edited. \`npm run bench\` measures the same figures on any host, and
\`--json\` prints them for programs. Ratios are of one run, with bare QEMU and the platform in turn.

${table(figures)}

\`ok\` meets the goal, \`short\` does not, \`not_run\` was not measured and says why. The goals are for software emulation on
two processors; a host that is busy with other things is slower in all of them, which \`loadBefore\` shows.

## Conditions

${facts.join('\n')}

## What the figures mean

${meanings.join('\n')}
`;
}
