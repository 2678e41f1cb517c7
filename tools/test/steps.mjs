// Runs commands as named, timed steps. A quiet step shows its output only when it fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { workspaceRoot } from '../workspace/projects.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} args of `node`, relative to the workspace
 * @property {boolean} [isLoud] shows its output as it comes
 */

/** A step that ended with another code than 0. */
export class StepFailed extends Error {
  /** @param {string} name @param {string} how @param {string} output */
  constructor(name, how, output) {
    super(`${name} ${how}`);
    this.output = output;
  }
}

/**
 * Runs lanes side by side, the steps of one lane one after the other. The first failure ends all and is thrown as
 * `StepFailed`; every child has ended by then.
 * @param {Step[][]} lanes
 */
export async function runLanes(lanes) {
  const abort = new AbortController();
  const runLane = async (steps) => {
    try {
      for (const step of steps) await runStep(step, abort.signal);
    } catch (e) {
      abort.abort();
      throw e;
    }
  };
  const outcomes = await Promise.allSettled(lanes.map(runLane));
  const failures = outcomes.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
  // The others were only ended because of it.
  const first = failures.find((e) => e instanceof StepFailed) ?? failures[0];
  if (first) throw first;
}

async function runStep({ name, args, isLoud = false }, signal) {
  signal.throwIfAborted();
  const start = performance.now();
  const stdio = ['ignore', isLoud ? 'inherit' : 'pipe', isLoud ? 'inherit' : 'pipe'];
  const env = { ...process.env, CI: 'true', FORCE_COLOR: process.stderr.isTTY ? '1' : '0' };
  const child = spawn(process.execPath, args, { cwd: workspaceRoot, stdio, env });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  const [code, endSignal] = await once(child, 'close');
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (code !== 0) throw new StepFailed(name, `ended with ${code ?? endSignal}`, Buffer.concat(chunks).toString());
  console.error(`${name}: ok (${seconds} s)`);
}
