// Scores the scratch filter on its labelled corpus, in all and for each kind of scratch (run `npm run build` first).
//   npm run eval:scratch            ends with 1 below the goal
import { createRequire } from 'node:module';
import path from 'node:path';
import { workspaceRoot } from '../workspace/projects.mjs';

const GOAL = 0.98;

const require = createRequire(import.meta.url);
const { CORPUS, evaluateCorpus, evaluateFamilies } = require(
  path.join(workspaceRoot, 'libs/domain/scratch-filter/dist/testing/index.js'),
);

const total = evaluateCorpus();
const row = ({ family, precision, recall, scratchCount }) =>
  `${family.padEnd(12)} ${precision.toFixed(3).padStart(9)} ${recall.toFixed(3).padStart(7)} ${String(scratchCount).padStart(8)}`;

const keptCount = CORPUS.reduce((count, { keep }) => count + keep.length, 0);
console.log(`${CORPUS.length} projects, ${keptCount} deliverables, ${total.scratchCount} scratch files\n`);
console.log(`${'family'.padEnd(12)} precision  recall  scratch`);
for (const score of evaluateFamilies()) console.log(row(score));
console.log(row({ family: 'overall', ...total }));
for (const { project, path: file, label, family, rule } of total.mistakes) {
  console.log(
    `\n${label === 'keep' ? `held by ${rule}, but a deliverable` : `kept, but scratch (${family})`}: ${file} of "${project}"`,
  );
}
if (total.precision < GOAL || total.recall < GOAL) process.exitCode = 1;
