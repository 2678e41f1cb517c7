#!/usr/bin/env node
/**
 * Gets the distribution's kernel for guests: an uncompressed kernel and the modules a guest needs, from the
 * distribution's package, which is unpacked and not installed.
 *
 *   node tools/boot/fetch-kernel.mjs --cache DIR [--json]
 */
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BASE_MODULES, ON_DEMAND_MODULES } from './guest-modules.mjs';
import { KernelModules } from './kernel-modules.mjs';
import { findKernelPackage, unpackPackages } from './kernel-package.mjs';
import { BootToolError } from './run-tool.mjs';
import { runCommandLine } from './command-line.mjs';
import { unpackVmlinux } from './vmlinux.mjs';

const MANIFEST = 'manifest.json';
const PACKAGE_LISTS = '/var/lib/apt/lists';
/**
 * Changes when the content of a cache entry changes for the same kernel, so that an older entry is not taken for a current
 * one: by hand for its form, by itself for the modules in it.
 */
const LAYOUT = `1-${digestOf([BASE_MODULES, ON_DEMAND_MODULES])}`;

/**
 * @typedef {object} GuestKernel
 * @property {string} version names the cache entry: release, package version and layout
 * @property {string} release the kernel's own name (uname -r)
 * @property {string} packageVersion
 * @property {string} vmlinux path of the uncompressed kernel
 * @property {string[]} modules paths of the modules of every guest, in the order to load them
 * @property {{ alias: string, modules: string[] }[]} onDemand for each pattern of a device's modalias, the paths of its modules in the order to
 *   load them
 */

/**
 * Returns the current kernel of the distribution from the cache, and fills the cache first when it has to. An entry
 * appears whole or not at all; two that run at once do not disturb each other. apt is asked again when its lists have
 * changed since; when it knows no kernel then, the last one in the cache is taken.
 *
 * @param {{ cacheDirectory: string, onProgress?: (line: string) => void }} options
 * @returns {Promise<GuestKernel>}
 * @throws {BootToolError} when the kernel cannot be found, downloaded or unpacked; the cache is unchanged then
 */
export async function fetchKernel({ cacheDirectory, onProgress = () => {} }) {
  const cache = path.resolve(cacheDirectory);
  await mkdir(cache, { recursive: true });
  const newest = await newestEntry(cache);
  if (newest !== undefined && newest.checkedAtMs > (await packageListsChangedAtMs())) return readEntry(newest.entry);
  let wanted;
  try {
    wanted = await findKernelPackage();
  } catch (error) {
    if (newest === undefined) throw error;
    onProgress(`${error.message} Using the kernel in the cache.`);
    return readEntry(newest.entry);
  }
  const entry = path.join(cache, `${wanted.release}_${wanted.version.replaceAll(/[^A-Za-z0-9.+~-]/g, '_')}_${LAYOUT}`);
  if (await exists(path.join(entry, MANIFEST))) {
    const now = new Date();
    await utimes(path.join(entry, MANIFEST), now, now);
  } else {
    await fillEntry(entry, wanted, onProgress);
  }
  return readEntry(entry);
}

function digestOf(value) {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}

/** When apt last changed what it knows: asking it takes seconds, and the answer is the same until then. */
async function packageListsChangedAtMs() {
  return stat(PACKAGE_LISTS).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  );
}

async function fillEntry(entry, wanted, onProgress) {
  const work = await mkdtemp(path.join(path.dirname(entry), '.unfinished-'));
  try {
    onProgress(`downloading ${wanted.packages.join(', ')} ${wanted.version}`);
    const tree = await unpackPackages(wanted.packages, work);
    const finished = path.join(work, 'entry');
    await mkdir(path.join(finished, 'modules'), { recursive: true });
    onProgress('unpacking the kernel');
    const image = path.join(tree, 'boot', `vmlinuz-${wanted.release}`);
    await writeFile(path.join(finished, 'vmlinux'), await unpackVmlinux(await readImage(image), image));
    onProgress('collecting modules');
    const collected = await collectModules(tree, wanted.release, path.join(finished, 'modules'), onProgress);
    const manifest = { release: wanted.release, packageVersion: wanted.version, ...collected };
    await writeFile(path.join(finished, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    await publish(finished, entry);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function readImage(file) {
  try {
    return await readFile(file);
  } catch (error) {
    throw new BootToolError(
      `The kernel package has no ${path.basename(file)}`,
      'Use a Debian or Ubuntu archive.',
      error,
    );
  }
}

async function publish(finished, entry) {
  try {
    await rename(finished, entry);
  } catch (error) {
    // Somebody else was first with the same entry.
    if (!(await exists(path.join(entry, MANIFEST)))) throw error;
  }
}

async function collectModules(tree, release, target, onProgress) {
  const kernelModules = await KernelModules.scan(await modulesDirectory(tree, release));
  const stage = async (names) => {
    const files = [];
    for (const name of names) {
      for (const module of await kernelModules.closure(name)) {
        const file = `${module.name}.ko`;
        if (files.includes(file)) continue;
        await writeFile(path.join(target, file), module.content);
        files.push(file);
      }
    }
    return files;
  };
  const base = BASE_MODULES.filter(({ name, required }) => required || kernelModules.has(name));
  const modules = await stage(base.map(({ name }) => name));
  const onDemand = [];
  for (const { device, alias, modules: names } of ON_DEMAND_MODULES) {
    if (names.every((name) => kernelModules.has(name))) {
      onDemand.push({ alias, modules: await stage(names) });
    } else {
      onProgress(`the kernel ${release} has no driver for: ${device}`);
    }
  }
  return { modules, onDemand };
}

/** Newer releases have /usr merged in their packages too. */
async function modulesDirectory(tree, release) {
  for (const parent of ['lib/modules', 'usr/lib/modules']) {
    const directory = path.join(tree, parent, release);
    if (await exists(directory)) return directory;
  }
  throw new BootToolError(`The kernel package has no modules for ${release}`, 'Use a Debian or Ubuntu archive.');
}

/** The entry that was last found to be current; the time is that of its manifest. */
async function newestEntry(cache) {
  let newest;
  for (const name of await readdir(cache)) {
    const manifest = path.join(cache, name, MANIFEST);
    if (!name.endsWith(`_${LAYOUT}`) || !(await exists(manifest))) continue;
    const { mtimeMs: checkedAtMs } = await stat(manifest);
    if (newest === undefined || checkedAtMs > newest.checkedAtMs)
      newest = { checkedAtMs, entry: path.join(cache, name) };
  }
  return newest;
}

async function readEntry(entry) {
  const manifest = JSON.parse(await readFile(path.join(entry, MANIFEST), 'utf8'));
  const absolute = (file) => path.join(entry, 'modules', file);
  return {
    version: path.basename(entry),
    release: manifest.release,
    packageVersion: manifest.packageVersion,
    vmlinux: path.join(entry, 'vmlinux'),
    modules: manifest.modules.map(absolute),
    onDemand: manifest.onDemand.map(({ alias, modules }) => ({ alias, modules: modules.map(absolute) })),
  };
}

async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  );
}

await runCommandLine(import.meta.url, {
  usage: 'fetch-kernel.mjs --cache DIR [--json]',
  required: ['cache'],
  run: ({ cache }, onProgress) => fetchKernel({ cacheDirectory: cache, onProgress }),
  summary: (kernel) => `${kernel.version}: ${kernel.vmlinux}`,
});
