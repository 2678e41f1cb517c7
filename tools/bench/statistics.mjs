// What is told of repeated measurements.

/** One set of measurements; all of them together stay below eight minutes. */
const PATIENCE_MS = 60_000;
const FEWEST_ROUNDS = 3;

/** @param {readonly number[]} values at least one @param {number} share 0 to 1 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** @param {readonly number[]} values */
export const p50 = (values) => percentile(values, 0.5);

/** @param {readonly number[]} values */
export const p90 = (values) => percentile(values, 0.9);

/**
 * Runs each of `works` once per round, in turn, so that what else the host does hits all of them alike. On a host that is
 * far too slow there are fewer rounds than asked for.
 * @template {Record<string, () => Promise<number>>} T
 * @param {number} rounds @param {T} works
 * @returns {Promise<{[K in keyof T]: number[]}>}
 */
export async function inTurn(rounds, works) {
  const names = Object.keys(works);
  const values = Object.fromEntries(names.map((name) => [name, []]));
  const enough = performance.now() + PATIENCE_MS;
  for (let round = 0; round < rounds && (round < FEWEST_ROUNDS || performance.now() < enough); round++) {
    // Every other round backwards: nobody always comes after the same neighbour.
    const order = round % 2 === 0 ? names : [...names].reverse();
    for (const name of order) values[name].push(await works[name]());
  }
  return values;
}

/** Milliseconds that `work` took. @param {() => Promise<unknown>} work */
export async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
