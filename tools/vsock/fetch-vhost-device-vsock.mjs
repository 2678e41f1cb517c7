#!/usr/bin/env node
/**
 * Gets vhost-device-vsock, which gives a QEMU guest an AF_VSOCK device without a module of the host's kernel: the one on
 * the PATH, or the one in the cache, or the Debian package, which is unpacked into the cache and not installed.
 *
 *   node tools/vsock/fetch-vhost-device-vsock.mjs --cache DIR [--json]
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runCommandLine } from '../boot/command-line.mjs';
import { BootToolError, runTool } from '../boot/run-tool.mjs';
import { findVhostDeviceVsock, PROGRAM } from './find-vhost-device-vsock.mjs';
import { downloadFromSid } from './sid-package.mjs';

const VERSION_TIMEOUT_MS = 30_000;

/**
 * Finds the program, and fetches it first when it has to. A cache entry appears whole or not at all; two that run at
 * once do not disturb each other. Nothing of the system is changed.
 *
 * @param {{ cacheDirectory: string, onProgress?: (line: string) => void }} options
 * @returns {Promise<{ path: string, version: string }>} `version` is the program's own version line
 * @throws {BootToolError} when it is nowhere and cannot be fetched, or does not run here
 */
export async function fetchVhostDeviceVsock({ cacheDirectory, onProgress = () => {} }) {
  const found = await findVhostDeviceVsock(cacheDirectory);
  if (found !== undefined) return { path: found, version: await versionOf(found) };
  const cache = path.resolve(cacheDirectory);
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(path.join(cache, '.unfinished-'));
  try {
    const tree = await downloadFromSid(PROGRAM, work, onProgress);
    const program = path.join(tree, 'usr', 'bin', PROGRAM);
    const version = await versionOf(program);
    await rename(program, path.join(cache, PROGRAM));
    return { path: path.join(cache, PROGRAM), version };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function versionOf(program) {
  const remediation = 'It is made for the C library of Debian 12 or later; use such a host.';
  const output = await runTool(program, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS, remediation });
  const version = output.trim();
  if (!version.startsWith(PROGRAM)) throw new BootToolError(`${program} is not ${PROGRAM}`, remediation);
  return version;
}

await runCommandLine(import.meta.url, {
  usage: 'fetch-vhost-device-vsock.mjs --cache DIR [--json]',
  required: ['cache'],
  run: ({ cache }, onProgress) => fetchVhostDeviceVsock({ cacheDirectory: cache, onProgress }),
  summary: ({ path: program, version }) => `${program}: ${version}`,
});
