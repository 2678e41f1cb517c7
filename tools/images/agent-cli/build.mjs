#!/usr/bin/env node
/**
 * Builds the root of the agent-cli image as a tar: the debian root with Node.js and an agent command line.
 *
 *   node tools/images/agent-cli/build.mjs --out FILE [--json]
 */
import { runCommandLine } from '../../boot/command-line.mjs';
import { buildDebianRoot } from '../debian/debian-root.mjs';

/** A fixed version: two builds of one recipe have the same command line in them. */
const AGENT_CLI = '@openai/codex@0.171.0';

await runCommandLine(import.meta.url, {
  usage: 'build.mjs --out FILE [--json]',
  required: ['out'],
  run: ({ out }, onProgress) =>
    buildDebianRoot({
      outputPath: out,
      packages: ['nodejs'],
      // By the host's npm, which trusts what the host trusts and knows its proxy.
      settings: [`npm install --global --prefix "$1/usr/local" --no-fund --no-audit ${AGENT_CLI}`],
      onProgress,
    }),
  summary: (root) => `${root.path}: ${root.sha256}`,
});
