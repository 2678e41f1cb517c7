// Measures the figures of docs/performance.md on this host, against bare QEMU beside it.
//   npm run bench                 prints a table
//   npm run bench -- --json       prints {conditions, figures}
//   npm run bench -- --document   also writes docs/performance.md
// Needs a built checkout (`npm run build`). Starts a platform of its own and leaves nothing of it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { workspaceRoot } from '../workspace/projects.mjs';
import { BareQemu } from './bare-qemu.mjs';
import { performanceDocument } from './document.mjs';
import { Figures, table } from './figures.mjs';
import { hostConditions, load } from './host.mjs';
import { GROWTH_MS, measureGrowth } from './measure-growth.mjs';
import { measureClaims, measureStarts, measureVerdicts } from './measure-starts.mjs';
import { measureTransfers, measureVerbs } from './measure-verbs.mjs';
import { measureCrowd, measureIdlePlatform, measureLaunchCheck } from './measure-weight.mjs';
import { Platform } from './platform.mjs';

const POOL_SIZE = 3;
/** The whole shall take less than eight minutes, on any host. */
const WHOLE_MS = 480_000;
/** What a step takes at the longest, unless it says otherwise. */
const STEP_MS = 80_000;

const { values: options } = parseArgs({ options: { json: { type: 'boolean' }, document: { type: 'boolean' } } });
const started = performance.now();
const loadBefore = load();
const figures = new Figures();
const node = await measureAll(figures);
const conditions = {
  date: new Date().toISOString(),
  ...hostConditions(),
  ...node,
  guest: 'tiny, 1 processor, 256 MiB',
  loadBefore,
  loadAfter: load(),
  seconds: Math.round((performance.now() - started) / 1000),
};
const report = { conditions, figures: figures.report() };
if (options.document) await writeFile(path.join(workspaceRoot, 'docs/performance.md'), performanceDocument(report));
console.log(options.json ? JSON.stringify(report, null, 2) : `${table(report.figures)}\n\n${told(conditions)}`);
process.exitCode = report.figures.some(({ status }) => status === 'short') ? 1 : 0;

/** Measures all that can be measured; what fails is said to be not run, and why. */
async function measureAll(results) {
  const platform = await Platform.create();
  try {
    await platform.start();
    await step('idle_platform_pss_mib', () => measureIdlePlatform(platform, results));
    await platform.operate('/v1/images/tiny/build');
    await platform.operate('/v1/images/tiny/freeze');
    const [described] = (await platform.call('GET', '/v1/nodes')).items;
    const bare = await BareQemu.create(path.join(platform.home, 'bare'), {
      kernel: platform.imageFile('vmlinux'),
      initramfs: platform.imageFile('initramfs.cpio'),
      disk: platform.imageFile('disk.raw'),
      accelerator: described.accelerator,
    });
    await bare.makeTemplate();
    await step('clone_p50_ms clone_p90_ms clone_vs_bare_ratio clone_vs_cold_ratio cold_vs_bare_ratio', () =>
      measureStarts(platform, bare, results),
    );
    await step('control_plane_p50_ms exec_overhead_p50_ms', () => measureVerbs(platform, bare, results));
    await step('put_vs_raw_ratio get_vs_raw_ratio', () => measureTransfers(platform, bare, results));
    await step('put_1gib_growth_mib get_1gib_growth_mib', () => measureGrowth(platform, results), GROWTH_MS);
    await step('verdict_latency_ms', () => measureVerdicts(platform, results));
    await step('launch_check_ms', () => measureLaunchCheck(platform, results));
    await step('pss_per_clone_20_mib', () => measureCrowd(platform, results));
    await step('claim_p50_ms', async () => {
      await platform.stop();
      await platform.start({ INQUEST_WARM_POOL: `tiny=${POOL_SIZE}` });
      await measureClaims(platform, results, POOL_SIZE);
    });
    const { accelerator, acceleratorReason } = described;
    return { accelerator, acceleratorReason };
  } finally {
    await platform.remove();
  }
}

/** @param {string} names of the figures that the step measures @param {() => Promise<void>} work */
async function step(names, work, longestMs = STEP_MS) {
  const began = performance.now();
  try {
    if (began - started > WHOLE_MS - longestMs) throw new Error('no time was left on this host');
    await work();
  } catch (e) {
    figures.miss(names.split(' '), `failed: ${e.message}`.replaceAll(/\s+/g, ' ').slice(0, 200));
  }
  console.error(`bench: ${names} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}

function told(facts) {
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(' ') : value}`)
    .join('\n');
}
