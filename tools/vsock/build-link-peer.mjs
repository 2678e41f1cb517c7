#!/usr/bin/env node
/**
 * Builds what tests of the guest link boot: a kernel, and an initramfs whose /init is the link-peer of the guest agent's
 * source.
 *
 *   node tools/vsock/build-link-peer.mjs --cache DIR --out FILE [--json]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { AGENT_SOURCE, offlineGoEnvironment, requireGoDependencies } from '../boot/build-guest-agent.mjs';
import { buildInitramfs } from '../boot/build-initramfs.mjs';
import { runCommandLine } from '../boot/command-line.mjs';
import { fetchKernel } from '../boot/fetch-kernel.mjs';
import { runTool } from '../boot/run-tool.mjs';

/**
 * @param {{ cacheDirectory: string, outputPath: string, onProgress?: (line: string) => void }} options `cacheDirectory` is
 *   that of kernels
 * @returns {Promise<{ kernelPath: string, initramfsPath: string }>}
 * @throws {import('../boot/run-tool.mjs').BootToolError} when a step fails
 */
export async function buildLinkPeer({ cacheDirectory, outputPath, onProgress = () => {} }) {
  const kernel = await fetchKernel({ cacheDirectory, onProgress });
  await requireGoDependencies();
  const work = await mkdtemp(path.join(path.dirname(path.resolve(outputPath)), '.unfinished-'));
  try {
    const agentPath = path.join(work, 'link-peer');
    const env = { ...offlineGoEnvironment(), CGO_ENABLED: '0', GOOS: 'linux', GOARCH: 'amd64' };
    const options = ['-trimpath', '-buildvcs=false', '-o', agentPath];
    await runTool('go', ['build', ...options, './cmd/link-peer'], { cwd: AGENT_SOURCE, env });
    const { path: initramfsPath } = await buildInitramfs({ agentPath, kernel, outputPath });
    return { kernelPath: kernel.vmlinux, initramfsPath };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

await runCommandLine(import.meta.url, {
  usage: 'build-link-peer.mjs --cache DIR --out FILE [--json]',
  required: ['cache', 'out'],
  run: ({ cache, out }, onProgress) => buildLinkPeer({ cacheDirectory: cache, outputPath: out, onProgress }),
  summary: ({ initramfsPath }) => initramfsPath,
});
