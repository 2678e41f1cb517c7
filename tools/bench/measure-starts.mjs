// How long a machine takes to be of use: clones, boots, claims; and how long its end takes to be known.
import { readFileSync } from 'node:fs';
import { monitorOf } from './host.mjs';
import { inTurn, p50, p90, timed } from './statistics.mjs';

/** The first ones have everything cold, and run code that is not compiled yet. */
const WARM_UP = 10;
const CLONES = 20;
const BOOTS = 3;
const CLAIMS = 20;
const VERDICTS = 7;
/** No template has this shape, so a machine of it boots. */
const BOOTING_MIB = 257;

/** @param {import('./platform.mjs').Platform} platform @param {import('./bare-qemu.mjs').BareQemu} bare @param {import('./figures.mjs').Figures} figures */
export async function measureStarts(platform, bare, figures) {
  const ours = () => startTimed(platform, {}, 'clone');
  const alone = () => aloneTimed(() => bare.clone());
  await inTurn(WARM_UP, { ours, alone });
  const clones = await inTurn(CLONES, { ours, alone });
  const boots = await inTurn(BOOTS, {
    ours: () => startTimed(platform, { memoryMib: BOOTING_MIB }, 'boot'),
    alone: () => aloneTimed(() => bare.boot()),
  });
  const clone = p50(clones.ours);
  const many = `${clones.ours.length} one after the other, after ${WARM_UP}`;
  figures.set('clone_p50_ms', clone, many);
  figures.set('clone_p90_ms', p90(clones.ours), many);
  figures.set('clone_vs_bare_ratio', clone / p50(clones.alone), `bare: ${p50(clones.alone).toFixed(0)} ms`);
  const cold = p50(boots.ours);
  figures.set('clone_vs_cold_ratio', cold / clone, `a boot at the edge: ${cold.toFixed(0)} ms`);
  figures.set(
    'cold_vs_bare_ratio',
    cold / p50(boots.alone),
    `${boots.ours.length} each; bare: ${p50(boots.alone).toFixed(0)} ms`,
  );
}

/** On a platform whose vm-service keeps a warm pool of that size. */
export async function measureClaims(platform, figures, poolSize) {
  const values = [];
  while (values.length < WARM_UP + CLAIMS) {
    await poolFilled(platform, poolSize);
    const started = performance.now();
    const { machineId, state } = await platform.call('POST', '/v1/machines', { image: 'tiny' });
    const tookMs = performance.now() - started;
    if (state !== 'ready') throw new Error(`the machine was ${state}, so it was not claimed`);
    values.push(tookMs);
    await platform.removeMachine(machineId);
  }
  const why = `${CLAIMS} from a pool of ${poolSize}, full before each, after ${WARM_UP}`;
  figures.set('claim_p50_ms', p50(values.slice(WARM_UP)), why);
}

/** A monitor is killed by a stranger; the clock runs from when it is gone. */
export async function measureVerdicts(platform, figures) {
  const values = [];
  for (let round = 0; round < VERDICTS; round++) {
    const { machineId } = await platform.startMachine();
    const pid = monitorOf(platform.instanceOf(machineId));
    const ended = platform.waitFor(machineId, 'ended');
    process.kill(pid, 'SIGKILL');
    await processGone(pid);
    values.push(await timed(() => ended));
    await platform.removeMachine(machineId);
  }
  figures.set('verdict_latency_ms', p50(values), `${VERDICTS} monitors killed by a stranger`);
}

async function startTimed(platform, wishes, expected) {
  const started = performance.now();
  const { machineId, origin } = await platform.startMachine(wishes);
  const tookMs = performance.now() - started;
  await platform.removeMachine(machineId);
  if (origin !== expected) throw new Error(`the machine came from a ${origin}, not from a ${expected}`);
  return tookMs;
}

async function aloneTimed(start) {
  const started = performance.now();
  const machine = await start();
  const tookMs = performance.now() - started;
  await machine.end();
  return tookMs;
}

async function poolFilled(platform, poolSize) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { items } = await platform.call('GET', '/v1/nodes');
    if (items[0].warmMachines >= poolSize) return;
    if (performance.now() > deadline) throw new Error('the warm pool does not fill');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A zombie has no memory any more: what is left of it is its parent's to collect. */
async function processGone(pid) {
  for (;;) {
    try {
      if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
    } catch {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
