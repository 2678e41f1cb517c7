// What the platform and its machines weigh, and what a start pays for knowing its image.
import { ImageStore } from '@inquest/image-store';
import path from 'node:path';
import { family, processesOf, pssMib } from './host.mjs';
import { p50, timed } from './statistics.mjs';

const CROWD = 20;
const CHECKS = 50;
/** Agents that have just answered still have something to do. */
const IDLE_MS = 3_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {import('./platform.mjs').Platform} platform @param {import('./figures.mjs').Figures} figures */
export async function measureIdlePlatform(platform, figures) {
  await pause(IDLE_MS);
  const members = family([...(await platform.processes()).values()]);
  const total = members.map(pssMib).reduce((sum, value) => sum + value, 0);
  figures.set('idle_platform_pss_mib', total, `${members.length} processes, no machine`);
}

export async function measureCrowd(platform, figures) {
  const machines = [];
  try {
    while (machines.length < CROWD) machines.push(await platform.startMachine());
    await pause(IDLE_MS);
    const pids = machines.flatMap(({ machineId }) => processesOf(platform.instanceOf(machineId)));
    const monitors = pids.map(pssMib).reduce((sum, value) => sum + value, 0);
    const service = pssMib((await platform.processes()).get('vm-service'));
    const why = `monitors ${(monitors / CROWD).toFixed(1)} MiB each, vm-service ${service.toFixed(0)} MiB in all`;
    figures.set('pss_per_clone_20_mib', (monitors + service) / CROWD, why);
  } finally {
    await Promise.all(machines.map(({ machineId }) => platform.removeMachine(machineId)));
  }
}

export async function measureLaunchCheck(platform, figures) {
  const store = new ImageStore(path.join(platform.home, 'images'));
  const record = await store.readRecord({ name: 'tiny', version: 1 });
  const values = [];
  for (let round = 0; round < CHECKS; round++) values.push(await timed(() => store.checkAtLaunch(record)));
  figures.set('launch_check_ms', p50(values), `${CHECKS} checks of all files of a version`);
}
