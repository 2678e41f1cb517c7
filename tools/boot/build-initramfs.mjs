#!/usr/bin/env node
/**
 * Builds the initramfs of guests: the guest agent as /init, and the kernel's modules. The same agent and kernel give
 * the same bytes.
 *
 *   node tools/boot/build-initramfs.mjs --cache DIR --out FILE [--json]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, open, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildGuestAgent } from './build-guest-agent.mjs';
import { runCommandLine } from './command-line.mjs';
import { fetchKernel } from './fetch-kernel.mjs';
import { BootToolError, packageAdvice } from './run-tool.mjs';

/** Packing takes a second; on a busy machine perhaps ten. */
const PACK_TIMEOUT_MS = 2 * 60 * 1000;
/** The time of every file in the archive: any fixed one does. */
const FILE_TIME = new Date(0);

/**
 * Packs an initramfs. `outputPath` appears only when it is complete. The archive is not compressed: an emulated
 * processor would need longer to unpack it than the host needs to read it.
 *
 * @param {{ agentPath: string, kernel: import('./fetch-kernel.mjs').GuestKernel, outputPath: string }} options
 * @returns {Promise<{ path: string, sizeBytes: number, sha256: string }>}
 * @throws {BootToolError} when cpio is missing or fails
 */
export async function buildInitramfs({ agentPath, kernel, outputPath }) {
  const target = path.resolve(outputPath);
  await mkdir(path.dirname(target), { recursive: true });
  const work = await mkdtemp(path.join(path.dirname(target), '.unfinished-'));
  try {
    const tree = path.join(work, 'tree');
    await stageTree(tree, agentPath, kernel);
    const archive = path.join(work, 'archive');
    const sizeBytes = await pack(tree, archive);
    const sha256 = await digestOf(archive);
    await rename(archive, target);
    return { path: target, sizeBytes, sha256 };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function stageTree(tree, agentPath, kernel) {
  const directory = path.join(tree, 'modules');
  await mkdir(directory, { recursive: true });
  await copyFile(agentPath, path.join(tree, 'init'));
  await chmod(path.join(tree, 'init'), 0o755);
  const names = (files) => files.map((file) => path.basename(file));
  for (const file of new Set([...kernel.modules, ...kernel.onDemand.flatMap(({ modules }) => modules)])) {
    await copyFile(file, path.join(directory, path.basename(file)));
  }
  const onDemand = kernel.onDemand.map(({ alias, modules }) => [alias, ...names(modules)].join(' '));
  await writeFile(path.join(directory, 'order'), lines(names(kernel.modules)));
  await writeFile(path.join(directory, 'on-demand'), lines(onDemand));
}

function lines(entries) {
  return entries.map((entry) => `${entry}\n`).join('');
}

/** Packs everything below a directory, in the order of the names, with the same owner, modes and times every time. */
async function pack(tree, archive) {
  const entries = (await readdir(tree, { recursive: true, withFileTypes: true }))
    .map((entry) => ({ entry, name: path.relative(tree, path.join(entry.parentPath ?? entry.path, entry.name)) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  for (const { entry, name } of entries) {
    const isProgram = entry.isDirectory() || name === 'init';
    await chmod(path.join(tree, name), isProgram ? 0o755 : 0o644);
  }
  // Only now: making a file changes the time of its directory.
  for (const { name } of entries) await utimes(path.join(tree, name), FILE_TIME, FILE_TIME);
  const output = await open(archive, 'wx', 0o644);
  try {
    await runCpio(tree, lines(entries.map(({ name }) => name)), output.fd);
    return (await output.stat()).size;
  } finally {
    await output.close();
  }
}

async function runCpio(tree, names, outputFd) {
  const child = spawn('cpio', ['--reproducible', '--quiet', '-o', '-H', 'newc', '-R', '0:0'], {
    cwd: tree,
    stdio: ['pipe', outputFd, 'pipe'],
    timeout: PACK_TIMEOUT_MS,
  });
  let words = '';
  child.stderr.on('data', (chunk) => {
    words = (words + chunk).slice(0, 1000);
  });
  // A cpio that fails closes its input early; its exit tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(names);
  let ended;
  try {
    ended = await once(child, 'close');
  } catch (error) {
    throw new BootToolError('The program cpio cannot be run', packageAdvice('cpio'), error);
  }
  if (ended[0] !== 0) {
    throw new BootToolError(
      `cpio ended with ${ended[0] ?? ended[1]}: ${words.trim()}`,
      'Correct what it says and run this again.',
    );
  }
}

async function digestOf(file) {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  return digest.digest('hex');
}

/**
 * Makes all that a guest boots from: fetches the kernel, builds the agent and packs both into an initramfs.
 *
 * @param {{ cacheDirectory: string, outputPath: string, onProgress?: (line: string) => void }} options
 * @returns {Promise<{ kernel: import('./fetch-kernel.mjs').GuestKernel, agentVersion: string, path: string, sizeBytes: number, sha256: string }>}
 * @throws {BootToolError} when a step fails; the message says which and what to do
 */
export async function buildBootFiles({ cacheDirectory, outputPath, onProgress = () => {} }) {
  const kernel = await fetchKernel({ cacheDirectory, onProgress });
  const work = await mkdtemp(path.join(path.resolve(cacheDirectory), '.unfinished-'));
  try {
    onProgress('building the guest agent');
    const agent = await buildGuestAgent({ outputPath: path.join(work, 'inquest-agent') });
    onProgress('packing the initramfs');
    const initramfs = await buildInitramfs({ agentPath: agent.path, kernel, outputPath });
    return { kernel, agentVersion: agent.version, ...initramfs };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

await runCommandLine(import.meta.url, {
  usage: 'build-initramfs.mjs --cache DIR --out FILE [--json]',
  required: ['cache', 'out'],
  run: ({ cache, out }, onProgress) => buildBootFiles({ cacheDirectory: cache, outputPath: out, onProgress }),
  summary: (built) => `${built.path}: agent ${built.agentVersion}, kernel ${built.kernel.release}`,
});
