// Measures git-guard on its labelled scripts and on long ones of hostile shapes, against its goals (run `npm run build` first).
//   npm run bench:git-guard
import { createRequire } from 'node:module';
import path from 'node:path';
import { workspaceRoot } from '../workspace/projects.mjs';

const P50_GOAL_MS = 1;
const LONG_GOAL_MS = 50;
const LONG_LENGTH = 100 * 1024;
const ROUNDS = 20;

const require = createRequire(import.meta.url);
const load = (entry) => require(path.join(workspaceRoot, 'libs/domain/git-guard/dist', entry));
const { guardGit } = load('index.js');
const { ALLOWED_SCRIPTS, hostileScripts, REFUSED_SCRIPTS } = load('testing/index.js');

function measureMs(script) {
  const startedAt = performance.now();
  guardGit(script);
  return performance.now() - startedAt;
}

/** Of all threads of this process, so that other work on the machine does not count and garbage collection does. */
function measureCpuMs(script) {
  const before = process.cpuUsage();
  guardGit(script);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const scripts = [...REFUSED_SCRIPTS.map(([script]) => script), ...ALLOWED_SCRIPTS];
for (const script of scripts) guardGit(script);
const timesMs = Array.from({ length: ROUNDS }, () => scripts.map(measureMs)).flat();
const p50Ms = median(timesMs);
const p99Ms = [...timesMs].sort((a, b) => a - b)[Math.floor(timesMs.length * 0.99)];
console.log(
  `${scripts.length} labelled scripts: p50 ${p50Ms.toFixed(3)} ms (goal ${P50_GOAL_MS}), p99 ${p99Ms.toFixed(3)} ms`,
);

const longTimes = Object.entries(hostileScripts(LONG_LENGTH)).map(([name, script]) => ({
  name,
  sizeKb: Math.round(script.length / 1024),
  cpuMs: median(Array.from({ length: ROUNDS }, () => measureCpuMs(script))),
}));
longTimes.sort((a, b) => b.cpuMs - a.cpuMs);
for (const { name, sizeKb, cpuMs } of longTimes) {
  console.log(`${sizeKb} KB of ${name}: p50 ${cpuMs.toFixed(1)} ms of processor time (goal ${LONG_GOAL_MS})`);
}
const slow = longTimes.filter(({ cpuMs }) => cpuMs > LONG_GOAL_MS);
console.log(`${longTimes.length} shapes of 100 KB, ${slow.length} of them over the goal`);
if (p50Ms > P50_GOAL_MS || slow.length > 0) process.exitCode = 1;
